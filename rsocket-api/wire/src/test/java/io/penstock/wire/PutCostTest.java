package io.penstock.wire;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.block.BlockDraft;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockLayout;
import io.penstock.block.BlockScope;
import io.penstock.block.CacheSpace;
import io.penstock.block.Plane.ElementType;
import io.penstock.block.SlabArena;
import io.penstock.block.SliceShape;
import io.penstock.flow.ProducingSource;
import io.penstock.stack.HostTier;
import io.penstock.stack.shape.StackOptions;
import io.penstock.testkit.Blocks;
import io.penstock.tier.BlockTier;
import io.penstock.tier.ByteBudget;
import io.penstock.tier.Lease;
import io.penstock.tier.OnMiss;
import io.penstock.tier.Presence;
import io.penstock.tier.PutSource;
import io.penstock.tier.Receipt;
import io.penstock.tier.Reservation;
import io.penstock.tier.TierHolds.KeyOutcome;
import io.penstock.tier.TierHolds.LeaseTerms;
import io.penstock.tier.TierListener;
import io.penstock.tier.spi.ForwardingTier;
import io.penstock.wire.client.KvClient;
import io.penstock.wire.client.KvClientOptions;
import io.penstock.wire.server.KvServer;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/// What puts over a connection cost the node beside their bytes, and whose they are.
@Timeout(60)
final class PutCostTest {
  private static final int LAYERS = 61;
  private static final int BLOCKS = 4;
  private static final Duration PATIENCE = WireNode.PATIENCE;
  private static final CacheSpace SPACE =
      CacheSpace.of("layers", BlockLayout.attention(LAYERS, 16, 1, 64, ElementType.BF16));

  private static <T> T value(Mono<T> mono) {
    return requireNonNull(mono.block(PATIENCE));
  }

  /// Counts the calls that change the index or ask it.
  private static final class CountingTier extends ForwardingTier {
    private final AtomicInteger reservations = new AtomicInteger();
    private final AtomicInteger commits = new AtomicInteger();
    private final AtomicInteger leases = new AtomicInteger();

    CountingTier(BlockTier tier) {
      super(tier);
    }

    @Override
    public Mono<Reservation> reserve(List<BlockKey> keys, BlockScope scope) {
      return super.reserve(keys, scope).map(room -> {
        reservations.incrementAndGet();
        return scope.adopt(new Counted(room));
      });
    }

    @Override
    public Mono<Lease> lease(List<BlockKey> keys, OnMiss onMiss, BlockScope scope) {
      leases.incrementAndGet();
      return super.lease(keys, onMiss, scope);
    }

    private final class Counted extends Reservation {
      private final Reservation room;

      Counted(Reservation room) {
        this.room = room;
      }

      @Override
      public List<BlockDraft> drafts() {
        return room.drafts();
      }

      @Override
      public Presence skipped() {
        return room.skipped();
      }

      @Override
      public Presence duplicates() {
        return room.duplicates();
      }

      @Override
      public Mono<List<Receipt>> commit(List<BlockDraft> complete) {
        commits.incrementAndGet();
        return room.commit(complete);
      }

      @Override
      protected void free() {
        room.close();
      }
    }
  }

  /// A block of 61 layers comes in 61 slices, and costs a reservation and a commit; its reader one lease.
  @ParameterizedTest
  @ValueSource(ints = {1, BLOCKS})
  void blockOfManyLayers_costsTwoCallsAtMost(int windowBlocks) {
    Scheduler timers = Schedulers.newSingle("timers", true);
    CountingTier tier = new CountingTier(new HostTier(SPACE, 16,
        StackOptions.defaults("dram").withIngressBlocks(4 * BLOCKS), TierListener.noop()));
    KvServer server = value(KvServer.bind(Link.PENSTOCK.server(), tier, WireNode.options(windowBlocks),
        new ByteBudget("ingress", 1 << 20, 64), timers));
    SlabArena arena = new SlabArena("client", SPACE.layout(), 4 * BLOCKS, 64);
    KvClient client = value(KvClient.connect(Link.PENSTOCK.client(Link.PENSTOCK.port(server)),
        KvClientOptions.builder().maxSliceBytes(SPACE.layout().layerBytes()).windowBlocks(windowBlocks).build(), SPACE,
        arena,
        new ByteBudget("client", 1 << 20, 64)));
    List<BlockKey> keys = Blocks.keys(SPACE, 0, BLOCKS);
    int windows = BLOCKS / windowBlocks;
    AtomicInteger sent = new AtomicInteger();
    PutSource source = source(arena, Mono.empty());
    try {
      assertThat(value(client.put(keys, window -> source.window(window).doOnNext(slice -> sent.incrementAndGet()))
          .collectList())).extracting(Receipt::key).isEqualTo(keys);
      assertThat(sent).as("slices").hasValueGreaterThanOrEqualTo(LAYERS * windows);
      assertThat(tier.reservations).hasValue(windows);
      assertThat(tier.commits).hasValue(windows);
      assertThat(tier.reservations.get() + tier.commits.get()).isLessThanOrEqualTo(2 * BLOCKS);

      int received = value(Flux.using(BlockScope::new,
          scope -> client.lease(keys, OnMiss.SKIP, scope).flatMapMany(lease -> lease.slices(scope)).map(slice -> {
            slice.spans().forEach(Blocks::assertBytes);
            slice.close();
            return 1;
          }), BlockScope::close).reduce(0, Integer::sum));
      assertThat(received).isGreaterThanOrEqualTo(LAYERS * windows);
      assertThat(tier.leases).hasValue(1);
    } finally {
      client.close().block(PATIENCE);
      server.close().block(PATIENCE);
      tier.close().block(PATIENCE);
      arena.close();
      timers.dispose();
    }
  }

  private static PutSource source(SlabArena arena, Mono<Void> ready) {
    return new ProducingSource(arena, SliceShape.Order.LAYER_FIRST,
        (key, range, memory) -> Blocks.fill(key, range.offset(arena.layout()), memory), (keys, layer) -> ready);
  }

  @Test
  void duplicates_moveNotAByte() {
    try (WireNode node = WireNode.of(Link.PENSTOCK, SPACE, 2)) {
      KvClient client = node.client(2);
      List<BlockKey> keys = node.stored(client, 6);
      AtomicInteger asked = new AtomicInteger();
      PutSource never = window -> {
        asked.incrementAndGet();
        return Flux.error(new AssertionError("no byte of a duplicate may be asked for"));
      };
      assertThat(value(client.put(keys, never).collectList())).isEmpty();
      assertThat(asked).hasValue(0);
      assertThat(value(client.stat()).stat().stored()).isEqualTo(6);
    }
  }

  /// No other connection can commit, revoke, remove or replace what one writes, not even by its end.
  @Test
  void unfinishedPut_isItsConnectionsAlone() {
    try (WireNode node = WireNode.of(Link.PENSTOCK, SPACE, 2)) {
      KvClient owner = node.client(2);
      KvClient other = node.client(2);
      List<BlockKey> keys = node.keys(0, 2);
      Sinks.Empty<Void> ready = Sinks.empty();
      Sinks.Empty<Void> begun = Sinks.empty();
      PutSource slow = source((SlabArena) owner.arena(), ready.asMono());
      CompletableFuture<List<Receipt>> put = owner.put(keys, window -> {
        begun.tryEmitEmpty();
        return slow.window(window);
      }).collectList().toFuture();
      begun.asMono().block(PATIENCE); // the node has reserved its room

      assertThat(node.put(other, keys)).as("skipped").isEmpty();
      assertThat(value(other.holds().remove(keys, true))).containsExactly(KeyOutcome.NOT_READY, KeyOutcome.NOT_READY);
      assertThat(value(other.holds().lease(keys, LeaseTerms.defaults())).id()).as("nothing to lease").isZero();
      assertThat(value(node.get(other, keys, OnMiss.SKIP))).as("bytes").isZero();
      other.close().block(PATIENCE);

      ready.tryEmitEmpty();
      assertThat(put.orTimeout(PATIENCE.toSeconds(), TimeUnit.SECONDS).join()).hasSize(2);
      assertThat(value(node.get(owner, keys, OnMiss.SKIP))).isEqualTo(2L * SPACE.layout().blockBytes());
    }
  }
}
