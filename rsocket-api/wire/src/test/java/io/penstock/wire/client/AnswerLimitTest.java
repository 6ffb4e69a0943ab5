package io.penstock.wire.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.UnpooledByteBufAllocator;
import io.penstock.block.BlockDraft;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockLayout;
import io.penstock.block.BlockScope;
import io.penstock.block.CacheSpace;
import io.penstock.block.GranuleRange;
import io.penstock.block.LayerSlice;
import io.penstock.block.Plane.ElementType;
import io.penstock.block.SlabArena;
import io.penstock.block.SliceShape;
import io.penstock.flow.ProducingSource;
import io.penstock.stack.HostTier;
import io.penstock.testkit.Blocks;
import io.penstock.testkit.LeakLedger;
import io.penstock.tier.BlockTier;
import io.penstock.tier.ByteBudget;
import io.penstock.tier.Medium;
import io.penstock.tier.OnMiss;
import io.penstock.tier.Presence;
import io.penstock.tier.PutSource;
import io.penstock.tier.Reservation;
import io.penstock.tier.TierInfo;
import io.penstock.tier.TierListener;
import io.penstock.tier.spi.OnDemandTier;
import io.penstock.wire.MuteTier;
import io.penstock.wire.client.link.AnswerLimit;
import io.penstock.wire.protocol.Limits;
import io.penstock.wire.protocol.Routes;
import io.penstock.wire.protocol.WireFailure.AnswerTimeoutException;
import io.penstock.wire.server.KvServer;
import io.penstock.wire.server.KvServerOptions;
import io.penstock.wire.simulate.LinkPlan;
import io.penstock.wire.simulate.SimulatedLink;
import io.penstock.wire.simulate.SimulatedTime;
import java.time.Duration;
import java.util.BitSet;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/// Requests that a node never answers end, each after its limit, on a connection that lives on; those that are slow, or
/// wait for what was asked for, do not.
@Timeout(60)
final class AnswerLimitTest {
  private static final int SLICE_BYTES = 4096;
  private static final Duration LIMIT = Duration.ofSeconds(30);
  private static final Duration LATE = LIMIT.dividedBy(4);
  private static final Duration LONG = Duration.ofHours(1);
  private static final CacheSpace SPACE =
      CacheSpace.of("answers", BlockLayout.attention(4, 16, 2, 16, ElementType.BF16));
  private static final List<BlockKey> KEYS = Blocks.keys(SPACE, 0, 4);

  private final LeakLedger leaks = new LeakLedger();
  private final SimulatedTime time = new SimulatedTime(1);
  private final SimulatedTime.CapturedDefaults defaults = time.captureDefaults();
  private final SlabArena arena = leaks.watch(new SlabArena("client", SPACE.layout(), 16, 16));
  private final ByteBudget budget = leaks.watch(new ByteBudget("client", 16 * SLICE_BYTES, 16));
  private final ByteBudget nodeBudget = leaks.watch(new ByteBudget("node", 64 * SLICE_BYTES, 64));
  private BlockTier tier;
  private KvServer server;
  private KvClient client;

  private void serve(BlockTier served) {
    tier = served;
    SimulatedLink link = SimulatedLink.of(time, "link", UnpooledByteBufAllocator.DEFAULT, LinkPlan.quiet());
    server = now(KvServer.bind(link.server(), tier, KvServerOptions.defaults()
        .withLimits(new Limits(SLICE_BYTES, 4, 256)).withStallTimeout(LONG), nodeBudget, time.scheduler()));
    client = now(KvClient.connect(link.client(),
        KvClientOptions.builder().maxSliceBytes(SLICE_BYTES).windowBlocks(4).answerTimeout(LIMIT).build(), SPACE, arena,
        budget));
  }

  @AfterEach
  void close() {
    now(client.close().then(server.close()).then(tier.close()).thenReturn(true));
    defaults.close();
    leaks.close();
  }

  private <T> T now(Mono<T> work) {
    CompletableFuture<T> result = work.toFuture();
    assertThat(time.runUntil(result::isDone, LONG)).isTrue();
    return result.join();
  }

  private HostTier memory() {
    return new HostTier(SPACE, 64, TierListener.noop());
  }

  private void assertUnanswered(Mono<?> work, String route, Duration limit) {
    long began = time.nanos();
    CompletableFuture<?> result = work.toFuture();

    assertThat(time.runUntil(result::isDone, LONG)).isTrue();

    assertThat(result).failsWithin(Duration.ZERO).withThrowableThat().havingCause()
        .isInstanceOf(AnswerTimeoutException.class).withMessageContaining(route)
        .withMessageContaining("must come within " + limit + " from node ");
    assertThat(Duration.ofNanos(time.nanos() - began)).isBetween(limit, limit.plus(LATE));
    assertThat(budget.inUseBytes()).isZero();
    assertThat(arena.claimedSlots()).isZero();
  }

  private Mono<Long> get(OnMiss onMiss) {
    return get(KEYS, onMiss);
  }

  private Mono<Long> get(List<BlockKey> keys, OnMiss onMiss) {
    return Flux.using(BlockScope::new, scope -> client.lease(keys, onMiss, scope)
        .flatMapMany(lease -> lease.slices(scope)).doOnNext(LayerSlice::close), BlockScope::close).count();
  }

  private ProducingSource source() {
    return new ProducingSource(client.arena(), SliceShape.Order.LAYER_FIRST,
        (key, range, memory) -> Blocks.fill(key, range.offset(SPACE.layout()), memory));
  }

  @Test
  void questionWithoutAnswer_ends_andTheNextOneIsAnswered() {
    MuteTier mute = new MuteTier(memory());
    serve(mute);

    assertUnanswered(client.contains(KEYS), Routes.EXISTS, LIMIT);

    mute.isMute = false;
    assertThat(now(client.contains(KEYS)).count()).isZero();
  }

  @Test
  void getWithoutDecision_ends() {
    serve(new MuteTier(memory()));
    assertUnanswered(get(OnMiss.SKIP), Routes.GET, LIMIT);
  }

  @Test
  void getWithoutSlices_ends() {
    serve(new SlowTier(Mono.never()));
    assertUnanswered(get(OnMiss.SKIP), Routes.GET, LIMIT);
  }

  @Test
  void getWhoseSlicesAreSlow_goesOn() {
    serve(new SlowTier(Mono.delay(LIMIT.dividedBy(20), time.scheduler())));
    long began = time.nanos();

    assertThat(now(get(Blocks.keys(SPACE, 0, 40), OnMiss.SKIP))).isPositive();

    assertThat(Duration.ofNanos(time.nanos() - began)).isGreaterThan(LIMIT);
  }

  @Test
  void blocksThatAreAwaited_areNotOwed() {
    HostTier memory = memory();
    serve(memory);
    try (BlockScope scope = new BlockScope()) {
      Reservation writing = now(memory.reserve(KEYS, scope));
      CompletableFuture<Long> reading = get(OnMiss.AWAIT).toFuture();

      assertThat(time.runUntil(reading::isDone, LIMIT.plus(LATE))).isFalse();

      writing.drafts().forEach(AnswerLimitTest::fill);
      now(writing.commit(writing.drafts()));
      assertThat(time.runUntil(reading::isDone, LATE)).isTrue();
      assertThat(reading).isCompletedWithValueMatching(slices -> slices > 0);
    }
  }

  @Test
  void putWithoutRoom_endsLater() {
    serve(new MuteTier(memory()));
    assertUnanswered(client.put(KEYS, source()).then(), Routes.PUT, LIMIT.multipliedBy(AnswerLimit.ROOM));
  }

  @Test
  void putWhoseSourceIsSlow_goesOn() {
    serve(memory());
    ProducingSource quick = source();
    PutSource slow = new PutSource() {
      @Override
      public Mono<Void> begin(int blocks, BlockScope scope) {
        return quick.begin(blocks, scope);
      }

      @Override
      public Flux<LayerSlice> window(Window window) {
        return quick.window(window).delaySubscription(LIMIT.multipliedBy(3), time.scheduler());
      }
    };

    assertThat(now(client.put(KEYS, slow).count())).isEqualTo(KEYS.size());
  }

  @Test
  void requestsThatEnded_areForgotten() {
    serve(memory());
    now(client.put(KEYS, source()).count());
    now(client.match(KEYS));
    now(get(OnMiss.SKIP));
    client.match(KEYS).subscribe().dispose();
    get(OnMiss.SKIP).subscribe().dispose();

    assertThat(client.unanswered()).isZero();
  }

  private static void fill(BlockDraft draft) {
    GranuleRange all = GranuleRange.all(draft.layout());
    draft.write(all, memory -> Blocks.fill(draft.key(), 0, memory));
    draft.produced(all);
  }

  /// Has all blocks, each after a wait.
  private static final class SlowTier extends OnDemandTier {
    private final Mono<?> wait;

    SlowTier(Mono<?> wait) {
      super(new TierInfo("slow", Medium.REMOTE, SPACE, Long.MAX_VALUE), new SlabArena("made", SPACE.layout(), 8, 8), 1);
      this.wait = wait;
    }

    @Override
    protected Mono<Presence> find(List<BlockKey> keys) {
      BitSet all = new BitSet();
      all.set(0, keys.size());
      return Mono.just(Presence.of(keys.size(), all));
    }

    @Override
    protected Mono<Boolean> fill(BlockDraft draft) {
      return wait.map(waited -> {
        AnswerLimitTest.fill(draft);
        return true;
      });
    }
  }
}
