package io.penstock.wire.client;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.penstock.block.BlockKey;
import io.penstock.block.BlockLayout;
import io.penstock.block.BlockScope;
import io.penstock.block.CacheSpace;
import io.penstock.block.GranuleRange;
import io.penstock.block.Plane.ElementType;
import io.penstock.block.SlabArena;
import io.penstock.block.SliceShape;
import io.penstock.carrier.PeerMemoryException;
import io.penstock.flow.ProducingSource;
import io.penstock.stack.TierStack;
import io.penstock.stack.shape.StackLevel;
import io.penstock.stack.shape.StackOptions;
import io.penstock.system.NativeMemory;
import io.penstock.testkit.Blocks;
import io.penstock.testkit.MemoryStore;
import io.penstock.tier.ByteBudget;
import io.penstock.tier.Medium;
import io.penstock.tier.OnMiss;
import io.penstock.tier.TierListener;
import io.penstock.tier.TierStat;
import io.penstock.tier.spi.TierInputs;
import io.penstock.wire.Link;
import io.penstock.wire.WireNode;
import io.penstock.wire.client.get.PeerBlock;
import io.penstock.wire.client.get.RemoteLease;
import io.penstock.wire.credit.Rates;
import io.penstock.wire.protocol.Carrier;
import io.penstock.wire.protocol.Limits;
import io.penstock.wire.protocol.WireFailure.CarrierUnavailableException;
import io.penstock.wire.protocol.WireFailure.RemotePermanentException;
import io.penstock.wire.report.StreamListener;
import io.penstock.wire.server.KvServer;
import io.penstock.wire.server.KvServerOptions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.publisher.Flux;
import reactor.core.scheduler.Schedulers;
import reactor.test.StepVerifier;

/// Gets and borrowed blocks through a read ring, beside those over the connection.
@Timeout(60)
final class ReadRingWireTest {
  private static final BlockLayout LAYOUT = BlockLayout.attention(4, 16, 2, 16, ElementType.BF16);
  private static final CacheSpace SPACE = CacheSpace.of("ring", LAYOUT);
  private static final int WINDOW = 4;

  @BeforeAll
  static void aSystemWithNativeCalls() {
    assumeTrue(NativeMemory.absence().isEmpty());
  }

  private static WireNode node(KvServerOptions options) {
    return new WireNode(Link.SHARED_MEMORY, SPACE, 64, StackOptions.defaults("dram").withIngressBlocks(4 * WINDOW),
        options, 8 * WireNode.SLICE_BYTES, Schedulers.newSingle("timers", true));
  }

  private static KvServerOptions.Builder serving() {
    return KvServerOptions.builder().limits(new Limits(WireNode.SLICE_BYTES, WINDOW, 256)).rings(1);
  }

  private static KvClient client(WireNode node, Duration spin) {
    return node.client(WireNode.asking(WINDOW).ring(spin).build(), node.arena(128), node.budget(64));
  }

  private static void assertBytes(PeerBlock block) {
    block.read(GranuleRange.all(LAYOUT), memory -> {
      Blocks.assertBytes(block.key(), 0, memory);
      return true;
    });
  }

  @ParameterizedTest
  @ValueSource(longs = {0, 100})
  void smallGets_goThroughTheRing_others_overTheConnection(long spinMicros) {
    Duration spin = Duration.ofNanos(spinMicros * 1000);
    try (WireNode node = node(serving().ringSpin(spin).build())) {
      KvClient client = client(node, spin);
      assertThat(client.hasRing()).isTrue();
      List<BlockKey> keys = node.stored(client, 40);
      long each = LAYOUT.blockBytes();
      for (int count : List.of(1, 5, 16, 17, 40)) {
        assertThat(node.get(client, keys.subList(0, count), OnMiss.SKIP).block(WireNode.PATIENCE))
            .as("%d keys", count).isEqualTo(count * each);
      }
      List<BlockKey> some = new ArrayList<>(keys.subList(38, 40));
      some.addAll(node.keys(100, 102));
      assertThat(node.get(client, some, OnMiss.SKIP).block(WireNode.PATIENCE)).isEqualTo(2 * each);
      assertThat(client.carried().in()).containsOnlyKeys(Carrier.SHARED_MEMORY);
      node.requireHonestTier(keys);
    }
  }

  @Test
  void gets_areToldOnce_throughTheRingAndOverTheConnection() {
    List<StreamListener.Report> reports = new CopyOnWriteArrayList<>();
    try (WireNode node = node(serving().build())) {
      KvClient client = node.client(WireNode.asking(WINDOW).ring(Duration.ZERO).streams(reports::add).build(),
          node.arena(128), node.budget(64));
      List<BlockKey> keys = node.stored(client, 4);
      long bytes = 4L * LAYOUT.blockBytes();
      assertThat(node.get(client, keys, OnMiss.SKIP).block(WireNode.PATIENCE)).isEqualTo(bytes);
      node.get(client, node.keys(100, 102), OnMiss.SKIP).block(WireNode.PATIENCE);

      // the put may be told a moment after its last receipt
      assertThat(reports).filteredOn(report -> report.route().equals("get"))
          .extracting(StreamListener.Report::sharedBytes, StreamListener.Report::failure)
          .containsExactly(tuple(bytes, null), tuple(0L, null));
    }
  }

  @Test
  void aLeaseThroughTheRing_saysWhatItFound_andComesInWindows() {
    BlockScope scope = new BlockScope();
    try (WireNode node = node(serving().build())) {
      KvClient client = client(node, Duration.ZERO);
      List<BlockKey> keys = node.stored(client, 8);
      RemoteLease lease = requireNonNull(client.lease(keys, OnMiss.SKIP, scope).block(WireNode.PATIENCE));
      assertThat(lease.found().count()).isEqualTo(8);
      assertThat(lease.hits().count()).isEqualTo(8);
      assertThat(lease.admitted().count() + lease.awaited().count()).isZero();
      StepVerifier.create(lease.windows(8, scope).concatMapIterable(window -> window), 0)
          .thenRequest(3).expectNextCount(3).thenCancel().verify(WireNode.PATIENCE);
      lease.drained().block(WireNode.PATIENCE);
      scope.close();
      node.requireHonestTier(keys);
    }
  }

  @Test
  void theThreadThatHearsAnswers_refusesToWait() {
    try (WireNode node = node(serving().build()); BlockScope scope = new BlockScope()) {
      KvClient client = client(node, Duration.ZERO);
      List<BlockKey> keys = node.stored(client, 1);
      assertThat(client.borrow(keys.getFirst(), scope).map(block -> Schedulers.isInNonBlockingThread())
          .block(WireNode.PATIENCE)).isTrue();
    }
  }

  @Test
  void aBorrowedBlock_isReadWithoutACopy_whateverIsRemoved() {
    try (WireNode node = node(serving().build()); BlockScope scope = new BlockScope()) {
      KvClient client = client(node, Duration.ZERO);
      List<BlockKey> keys = node.stored(client, 4);
      PeerBlock block = requireNonNull(client.borrow(keys.getFirst(), scope).block(WireNode.PATIENCE));
      client.remove(keys).block(WireNode.PATIENCE);
      assertBytes(block.verify());
      assertThat(node.tier.arena().claimedSlots()).isEqualTo(1);
      assertThat(client.arena().claimedSlots()).isZero();
      block.close();
      assertThatThrownBy(() -> assertBytes(block)).isInstanceOf(IllegalStateException.class);
      assertThat(client.borrow(keys.getFirst(), scope).blockOptional(WireNode.PATIENCE)).isEmpty();
      node.awaitIdle();
    }
  }

  @Test
  void aLeaseThatDoesNotMove_isEndedByTheNode() {
    try (WireNode node = node(serving().stallTimeout(Duration.ofMillis(1)).build());
        BlockScope scope = new BlockScope()) {
      KvClient client = client(node, Duration.ZERO);
      List<BlockKey> keys = node.keys(0, 1);
      SliceShape shape = new SliceShape(WINDOW, WireNode.SLICE_BYTES, SliceShape.Order.LAYER_FIRST, 0);
      node.tier.put(keys, shape, node.source((SlabArena) client.arena(), SliceShape.Order.LAYER_FIRST))
          .blockLast(WireNode.PATIENCE);
      PeerBlock block = client.borrow(keys.getFirst(), scope).repeatWhenEmpty(1000, again -> again)
          .block(WireNode.PATIENCE); // its life may be over before it is heard of
      node.tier.remove(keys).block(WireNode.PATIENCE);
      node.awaitIdle();
      assertThatThrownBy(() -> assertBytes(requireNonNull(block))).isInstanceOf(PeerMemoryException.class);
    }
  }

  @Test
  void ringsAreBounded_andAClientWithoutOne_asksOverItsConnection() {
    try (WireNode node = node(serving().rings(1).build()); BlockScope scope = new BlockScope()) {
      KvClient first = client(node, Duration.ZERO);
      KvClient second = client(node, Duration.ZERO);
      assertThat(first.hasRing()).isTrue();
      assertThat(second.hasRing()).isFalse();
      List<BlockKey> keys = node.stored(second, 4);
      assertThat(node.get(second, keys, OnMiss.SKIP).block(WireNode.PATIENCE)).isEqualTo(4L * LAYOUT.blockBytes());
      assertThatThrownBy(() -> second.borrow(keys.getFirst(), scope).block(WireNode.PATIENCE))
          .isInstanceOf(CarrierUnavailableException.class).hasMessageContaining("no read ring");
      assertThatThrownBy(() -> node.client(WireNode.asking(WINDOW).carriers(Carrier.SHARED_MEMORY).ring(Duration.ZERO)
          .build(), node.arena(8), node.budget(8))).isInstanceOf(RemotePermanentException.class)
          .hasMessageContaining("read rings of the node must be <= 1");
      first.close().block(WireNode.PATIENCE);
      StepVerifier.create(Flux.defer(() -> Flux.just(client(node, Duration.ZERO).hasRing()))
          .repeat(1000).filter(has -> has).next()).expectNext(true).verifyComplete();
    }
  }

  @Test
  void anArenaWithoutRoom_isAwaited_andACancelLeavesTheQueue() {
    try (WireNode node = node(serving().build()); BlockScope scope = new BlockScope()) {
      SlabArena small = node.arena(8);
      KvClient client = node.client(WireNode.asking(WINDOW).ring(Duration.ZERO).build(), small, node.budget(64));
      List<BlockKey> keys = node.stored(client, 4);
      var taken = requireNonNull(small.tryHold(8));
      StepVerifier.create(client.lease(keys, OnMiss.SKIP, scope).flatMapMany(lease -> lease.slices(scope)))
          .expectSubscription().then(() -> taken.giveBack(1))
          .expectNextCount(1).thenCancel().verify(WireNode.PATIENCE);
      taken.close();
    }
  }

  @Test
  void aRingThatHasEnded_isNone_andGetsGoOverTheConnection() {
    try (WireNode node = node(serving().build()); BlockScope scope = new BlockScope()) {
      KvClient client = client(node, Duration.ZERO);
      List<BlockKey> keys = node.stored(client, 4);
      requireNonNull(client.carriers().ring()).close(); // as the node does, or the end of its thread
      assertThat(client.hasRing()).isFalse();
      assertThatThrownBy(() -> client.borrow(keys.getFirst(), scope).block(WireNode.PATIENCE))
          .isInstanceOf(CarrierUnavailableException.class).hasMessageContaining("has ended");
      assertThat(node.get(client, keys, OnMiss.SKIP).block(WireNode.PATIENCE)).isEqualTo(4L * LAYOUT.blockBytes());
    }
  }

  @Test
  void aConnectionThatIsGone_hasNoRing() {
    try (WireNode node = node(serving().build()); BlockScope scope = new BlockScope()) {
      KvClient client = client(node, Duration.ZERO);
      client.close().block(WireNode.PATIENCE);
      assertThat(client.hasRing()).isFalse();
      assertThatThrownBy(() -> client.borrow(node.keys(0, 1).getFirst(), scope).block(WireNode.PATIENCE))
          .isInstanceOf(CarrierUnavailableException.class);
    }
  }

  @Test
  void hitsAndMisses_areCountedOnce() {
    try (WireNode node = node(serving().build()); BlockScope scope = new BlockScope()) {
      KvClient client = client(node, Duration.ZERO);
      List<BlockKey> keys = new ArrayList<>(node.stored(client, 3));
      TierStat before = requireNonNull(node.tier.stat().block(WireNode.PATIENCE));
      node.get(client, keys, OnMiss.SKIP).block(WireNode.PATIENCE);
      keys.addAll(node.keys(100, 102));
      assertThat(node.get(client, keys, OnMiss.SKIP).block(WireNode.PATIENCE)).isEqualTo(3L * LAYOUT.blockBytes());
      node.get(client, node.keys(200, 201), OnMiss.SKIP).block(WireNode.PATIENCE);
      TierStat after = requireNonNull(node.tier.stat().block(WireNode.PATIENCE));
      assertThat(after.hits() - before.hits()).isEqualTo(3 + 3);
      assertThat(after.misses() - before.misses()).isEqualTo(2 + 1);
      assertThat(client.borrow(node.keys(200, 201).getFirst(), scope).blockOptional(WireNode.PATIENCE)).isEmpty();
      assertThat(requireNonNull(node.tier.stat().block(WireNode.PATIENCE)).misses()).isEqualTo(after.misses());
    }
  }

  @Test
  void listenersOfBothSides_hearGetsThroughTheRing_andBorrows() {
    List<StreamListener.Report> atNode = new CopyOnWriteArrayList<>();
    List<StreamListener.Report> atClient = new CopyOnWriteArrayList<>();
    try (WireNode node = node(serving().streams(atNode::add).build()); BlockScope scope = new BlockScope()) {
      KvClient client = node.client(WireNode.asking(WINDOW).ring(Duration.ZERO).streams(atClient::add).build(),
          node.arena(128), node.budget(64));
      List<BlockKey> keys = node.stored(client, 4);
      long each = LAYOUT.blockBytes();
      node.get(client, keys, OnMiss.SKIP).block(WireNode.PATIENCE);
      client.borrow(keys.getFirst(), scope).block(WireNode.PATIENCE);
      client.borrow(node.keys(100, 101).getFirst(), scope).block(WireNode.PATIENCE);
      assertThat(atNode).filteredOn(report -> report.route().equals("get")).allSatisfy(report -> {
        assertThat(report.isOutgoing()).isTrue();
        assertThat(report.carrier()).isEqualTo(Carrier.SHARED_MEMORY);
        assertThat(report.failure()).isNull();
        assertThat(report.nanos()).isBetween(1L, WireNode.PATIENCE.toNanos());
      }).extracting(StreamListener.Report::bytes).containsExactly(4 * each, each);
      assertThat(atClient).filteredOn(report -> report.route().equals("get"))
          .extracting(StreamListener.Report::sharedBytes).containsExactly(4 * each, each, 0L);
      assertThat(client.carried().in()).containsExactly(Map.entry(Carrier.SHARED_MEMORY, 5 * each));
      assertThat(requireNonNull(client.stat().block(WireNode.PATIENCE)).carried().out().get("shared-memory"))
          .isEqualTo(5 * each);
    }
  }

  /// A level of memory above one in a store.
  @Test
  void leasesOfRings_areBoundedByHostMemory_whateverLiesBelow() {
    MemoryStore disk = new MemoryStore("ssd", Medium.DISK, SPACE, 1000, Runnable::run);
    TierStack tier = new TierStack(SPACE, List.of(new StackLevel.Host("dram", 8), new StackLevel.Stored(disk,
        1000)), StackOptions.defaults("stack").withIngressBlocks(8), TierListener.noop(),
        TierInputs.of(Link.SHARED_MEMORY.chunks()), StackOptions.Sampling.none());
    ByteBudget budget = new ByteBudget("client", 64L * WireNode.SLICE_BYTES, 64);
    KvServer server = requireNonNull(KvServer.bind(Link.SHARED_MEMORY.server(), tier, serving().build(),
        new ByteBudget("node", 64L * WireNode.SLICE_BYTES, 64), Schedulers.single()).block(WireNode.PATIENCE));
    BlockScope scope = new BlockScope();
    try (SlabArena arena = new SlabArena("client", LAYOUT, 32, 8)) {
      KvClient client = requireNonNull(KvClient.connect(Link.SHARED_MEMORY.client(Link.SHARED_MEMORY.port(server)),
          WireNode.asking(WINDOW).ring(Duration.ZERO).build(), SPACE, arena, budget).block(WireNode.PATIENCE));
      List<BlockKey> keys = Blocks.keys(SPACE, 0, 6);
      client.put(keys, new ProducingSource(arena, SliceShape.Order.LAYER_FIRST,
          (key, range, memory) -> Blocks.fill(key, range.offset(LAYOUT), memory))).blockLast(WireNode.PATIENCE);
      int borrowed = 0;
      for (BlockKey key : keys) {
        borrowed += client.borrow(key, scope).blockOptional(WireNode.PATIENCE).isPresent() ? 1 : 0;
      }
      assertThat(borrowed).isEqualTo(4);
      scope.close();
      client.close().block(WireNode.PATIENCE);
    }
    server.close().block(WireNode.PATIENCE);
    tier.close().block(WireNode.PATIENCE);
  }

  @Test
  void aNodeWithRates_hasNoRings_andSaysWhatToChange() {
    try (WireNode node = node(serving().rates(new Rates(1000, 0)).build())) {
      assertThat(client(node, Duration.ZERO).hasRing()).isFalse();
      assertThatThrownBy(() -> node.client(WireNode.asking(WINDOW).carriers(Carrier.SHARED_MEMORY).ring(Duration.ZERO)
          .build(), node.arena(8), node.budget(8))).isInstanceOf(RemotePermanentException.class)
          .hasMessageContaining("limits.requests").hasMessageContaining("connect without a ring");
    }
  }
}
