package io.penstock.wire.client.get;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockLayout;
import io.penstock.block.BlockScope;
import io.penstock.block.CacheSpace;
import io.penstock.block.HeldSlots;
import io.penstock.block.Plane.ElementType;
import io.penstock.block.SlabArena;
import io.penstock.block.SliceShape;
import io.penstock.flow.ProducingSource;
import io.penstock.stack.HostTier;
import io.penstock.testkit.Blocks;
import io.penstock.testkit.LeakLedger;
import io.penstock.tier.ByteBudget;
import io.penstock.tier.OnMiss;
import io.penstock.tier.Presence;
import io.penstock.tier.TierListener;
import io.penstock.wire.SliceStream;
import io.penstock.wire.client.KvClient;
import io.penstock.wire.client.KvClientOptions;
import io.penstock.wire.client.link.AnswerLimits;
import io.penstock.wire.protocol.ControlCodec;
import io.penstock.wire.protocol.Limits;
import io.penstock.wire.protocol.Messages;
import io.penstock.wire.server.KvServer;
import io.penstock.wire.server.KvServerOptions;
import io.penstock.wire.simulate.Direction;
import io.penstock.wire.simulate.LinkEvent;
import io.penstock.wire.simulate.LinkPlan;
import io.penstock.wire.simulate.SimulatedLink;
import io.penstock.wire.simulate.SimulatedTime;
import java.time.Duration;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/// A get asks for its first slices with its question, as far as arena and budget have room.
@Timeout(60)
final class GetOpeningTest {
  private static final int SLICE_BYTES = 4096;
  private static final int WINDOW = 4;
  private static final Duration WAY = Duration.ofMillis(1);
  private static final Duration ROUND_TRIP = WAY.multipliedBy(2);
  private static final Duration PATIENCE = Duration.ofSeconds(10);
  private static final CacheSpace SPACE =
      CacheSpace.of("opening", BlockLayout.attention(4, 16, 2, 16, ElementType.BF16));

  @Test
  void get_takesOneRoundTrip_andOneFrame() {
    try (World world = new World(1, WINDOW, 2 * WINDOW, 32)) {
      world.put(0, WINDOW);
      world.events.clear();
      long began = world.time.nanos();

      assertThat(world.now(world.get(0, WINDOW))).isEqualTo(WINDOW);

      assertThat(Duration.ofNanos(world.time.nanos() - began)).isBetween(ROUND_TRIP,
          ROUND_TRIP.plus(WAY.dividedBy(2)));
      assertThat(world.events.stream().filter(event -> event.direction() == Direction.UP)).hasSize(1);
    }
  }

  @Test
  void get_ofSeveralWindows_hasSlicesInOneRoundTrip() {
    try (World world = new World(1, WINDOW, 4 * WINDOW, 32)) {
      world.put(0, 3 * WINDOW);
      long began = world.time.nanos();
      try (BlockScope scope = new BlockScope()) {
        List<Long> arrivals = new ArrayList<>();
        world.now(world.client.lease(world.keys(0, 3 * WINDOW), OnMiss.SKIP, scope)
            .flatMapMany(lease -> lease.slices(scope)).doOnNext(slice -> {
              arrivals.add(world.time.nanos());
              slice.close();
            }).then(Mono.just(true)));
        assertThat(Duration.ofNanos(arrivals.getFirst() - began)).isBetween(ROUND_TRIP,
            ROUND_TRIP.plus(WAY.dividedBy(2)));
      }
    }
  }

  @Test
  void miss_costsNothing() {
    try (World world = new World(1, WINDOW, 2 * WINDOW, 32); BlockScope scope = new BlockScope()) {
      RemoteLease lease = world.now(world.client.lease(world.keys(0, WINDOW), OnMiss.SKIP, scope));

      assertThat(lease.found().count()).isZero();
      assertThat(world.arena.claimedSlots()).isZero();
      world.time.advance(WAY);
      assertThat(world.budget.inUseBytes()).isZero();
    }
  }

  @Test
  void unreadLease_hasNoSlotsForBlocksThatDoNotCome_andLeavesAWindow() {
    try (World world = new World(1, WINDOW, 2 * WINDOW, 32); BlockScope scope = new BlockScope()) {
      world.put(0, 1);

      world.now(world.client.lease(world.keys(0, WINDOW), OnMiss.SKIP, scope));
      world.time.advance(WAY);

      assertThat(world.arena.claimedSlots()).isEqualTo(1);
      assertThat(world.budget.inUseBytes()).isZero();
    }
  }

  @Test
  void arenaOrBudgetWithoutRoom_takesTheLongWay() {
    try (World world = new World(1, WINDOW, 2 * WINDOW, 32)) {
      world.put(0, WINDOW);
      try (HeldSlots others = Objects.requireNonNull(world.arena.tryHold(1))) {
        assertThat(others.left()).isEqualTo(1);
        long began = world.time.nanos();
        assertThat(world.now(world.get(0, WINDOW))).isEqualTo(WINDOW);
        assertThat(Duration.ofNanos(world.time.nanos() - began)).isGreaterThan(ROUND_TRIP.multipliedBy(2));
      }
    }
    try (World world = new World(1, WINDOW, 2 * WINDOW, 1)) {
      world.put(0, WINDOW);
      long began = world.time.nanos();
      assertThat(world.now(world.get(0, WINDOW))).isEqualTo(WINDOW);
      assertThat(Duration.ofNanos(world.time.nanos() - began)).isGreaterThan(ROUND_TRIP.multipliedBy(2));
    }
  }

  /// Leases that are read late, beside gets that must go on meanwhile: windows, arenas and budgets by seed.
  @Test
  void leasesReadLate_keepNoOtherFromItsBlocks() {
    readLate(40);
  }

  @Tag("proof")
  @Test
  void leasesReadLate_keepNoOtherFromItsBlocks_atLength() {
    readLate(2_000);
  }

  private static void readLate(int seeds) {
    for (int seed = 0; seed < seeds; seed++) {
      SplittableRandom random = new SplittableRandom(seed);
      int window = random.nextInt(1, 7);
      try (World world = new World(seed, window, random.nextInt(window, 6 * window + 1), random.nextInt(1, 40));
          BlockScope scope = new BlockScope()) {
        world.put(0, 20);
        List<Mono<Long>> late = new ArrayList<>();
        for (int i = random.nextInt(4); i > 0; i--) {
          OnMiss onMiss = random.nextBoolean() ? OnMiss.SKIP : OnMiss.AWAIT;
          List<BlockKey> keys = world.keys(random.nextInt(10), random.nextInt(11, 20));
          RemoteLease lease = world.now(world.client.lease(keys, onMiss, scope));
          late.add(world.read(lease, scope).filter(count -> count == keys.size()));
        }
        List<CompletableFuture<Long>> gets = new ArrayList<>();
        for (int i = random.nextInt(1, 5); i > 0; i--) {
          gets.add(world.get(random.nextInt(10), random.nextInt(11, 24)).toFuture());
        }
        assertThat(world.time.runUntil(() -> gets.stream().allMatch(CompletableFuture::isDone), PATIENCE))
            .as("seed %d: gets go on beside leases without a reader", seed).isTrue();
        gets.forEach(CompletableFuture::join);
        late.forEach(world::now);
        assertThat(world.budget.peakBytes()).isLessThanOrEqualTo(world.budget.capacityBytes());
      }
    }
  }

  private static byte[] bytes(Object message) {
    ByteBuf data = ControlCodec.CBOR.encode(message, UnpooledByteBufAllocator.DEFAULT);
    try {
      return ByteBufUtil.getBytes(data);
    } finally {
      data.release();
    }
  }

  /// A node may make its windows smaller than it was asked for: each block of them has a slot then, too.
  @Test
  void smallerWindows_thanAskedFor_haveSlots() {
    List<BlockKey> keys = Blocks.keys(SPACE, 0, 40);
    BitSet all = new BitSet();
    all.set(0, keys.size());
    Messages.Bits found = Messages.Bits.of(Presence.of(keys.size(), all));
    Messages.Bits none = Messages.Bits.of(Presence.of(keys.size(), new BitSet()));
    for (int seed = 0; seed < 60; seed++) {
      SplittableRandom random = new SplittableRandom(seed);
      int window = random.nextInt(1, 12);
      SliceShape.Order order = SliceShape.Order.values()[random.nextInt(2)];
      SliceStream stream = new SliceStream(SPACE, window, 0, SLICE_BYTES, order);
      List<byte[]> payloads = new ArrayList<>(List.of(bytes(new Messages.Found(found, found, none, none))));
      for (int from = 0, number = 0; from < keys.size(); number++) {
        int to = Math.min(keys.size(), from + random.nextInt(1, window + 1));
        stream.window(number, keys, IntStream.range(from, to).boxed().toList(), payloads);
        from = to;
      }
      try (LeakLedger leaks = new LeakLedger()) {
        SlabArena arena = leaks.watch(new SlabArena("client", SPACE.layout(), random.nextInt(window, 4 * window), 4));
        ByteBudget budget = leaks.watch(new ByteBudget("client", 32 * SLICE_BYTES, 4));
        GetReceiver receiver = new GetReceiver(new GetSetting(arena, SPACE.id(), budget.permits(), SLICE_BYTES, window,
            random.nextInt(1, 24), 0, order, OnMiss.SKIP, ControlCodec.CBOR,
            AnswerLimits.NONE, "node", error -> error), keys,
            (open, decision) -> {}, error -> {
              throw new AssertionError(error);
            });
        FaultyPeer peer = new FaultyPeer(receiver, payloads, false);
        receiver.onSubscribe(peer);
        peer.send();
        try (BlockScope scope = new BlockScope()) {
          RemoteLease lease =
              scope.adopt(new RemoteLease(receiver, Mono::empty, new Messages.Found(found, found, none, none)));
          assertThat(lease.slices(scope).doOnNext(slice -> {
            slice.spans().forEach(Blocks::assertBytes);
            slice.close();
          }).map(slice -> (long) slice.bytes()).reduce(0L, Long::sum).block(PATIENCE)).as("seed %d", seed)
              .isEqualTo((long) keys.size() * SPACE.layout().blockBytes());
        }
        peer.requireReleased();
      }
    }
  }

  /// A node and a client on a link with a fixed latency.
  private static final class World implements AutoCloseable {
    private final LeakLedger leaks = new LeakLedger();
    private final SimulatedTime time;
    private final SimulatedTime.CapturedDefaults defaults;
    private final List<LinkEvent> events = new ArrayList<>();
    private final SlabArena arena;
    private final ByteBudget budget;
    private final HostTier tier = new HostTier(SPACE, 256, TierListener.noop());
    private final KvServer server;
    private final KvClient client;
    private final KvClient writer;

    World(int seed, int window, int slots, int slices) {
      time = new SimulatedTime(seed);
      defaults = time.captureDefaults();
      arena = leaks.watch(new SlabArena("client", SPACE.layout(), slots, 64));
      budget = leaks.watch(new ByteBudget("client", (long) slices * SLICE_BYTES, 64));
      SimulatedLink link = new SimulatedLink(time, "link", UnpooledByteBufAllocator.DEFAULT,
          number -> LinkPlan.quiet().withLatency(WAY, WAY), events::add);
      server = now(KvServer.bind(link.server(), tier,
          KvServerOptions.defaults().withLimits(new Limits(SLICE_BYTES, 64, 256)),
          leaks.watch(new ByteBudget("node", 64 * SLICE_BYTES, 64)), time.scheduler()));
      client = connect(link, window, arena, budget);
      writer = connect(link, WINDOW, leaks.watch(new SlabArena("writer", SPACE.layout(), 64, 64)),
          leaks.watch(new ByteBudget("writer", 16 * SLICE_BYTES, 64)));
    }

    private KvClient connect(SimulatedLink link, int window, SlabArena to, ByteBudget of) {
      return now(KvClient.connect(link.client(),
          KvClientOptions.builder().maxSliceBytes(SLICE_BYTES).windowBlocks(window).build(), SPACE, to, of));
    }

    List<BlockKey> keys(int from, int to) {
      return Blocks.keys(SPACE, from, to);
    }

    void put(int from, int to) {
      now(writer.put(keys(from, to), new ProducingSource(writer.arena(), SliceShape.Order.LAYER_FIRST,
          (key, range, memory) -> Blocks.fill(key, range.offset(SPACE.layout()), memory))).count());
    }

    /// Number of blocks that came, each compared.
    Mono<Long> get(int from, int to) {
      return Flux.using(BlockScope::new, scope -> client.lease(keys(from, to), OnMiss.SKIP, scope)
          .flatMap(lease -> read(lease, scope)), BlockScope::close).next();
    }

    Mono<Long> read(RemoteLease lease, BlockScope scope) {
      return lease.windows(3, scope).concatMapIterable(blocks -> blocks).doOnNext(leased -> {
        Blocks.assertBytes(leased.block());
        leased.block().close();
      }).count();
    }

    <T> T now(Mono<T> work) {
      CompletableFuture<T> result = work.toFuture();
      assertThat(time.runUntil(result::isDone, PATIENCE)).as("done, seed %d", time.seed()).isTrue();
      return result.join();
    }

    @Override
    public void close() {
      now(client.close().thenReturn(true));
      now(writer.close().thenReturn(true));
      now(server.close().thenReturn(true));
      now(tier.close().thenReturn(true));
      defaults.close();
      leaks.close();
    }
  }
}
