package io.penstock.wire.client.link;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.netty.buffer.UnpooledByteBufAllocator;
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
import io.penstock.tier.ByteBudget;
import io.penstock.tier.OnMiss;
import io.penstock.tier.TierListener;
import io.penstock.wire.Link;
import io.penstock.wire.WireNode;
import io.penstock.wire.client.KvClient;
import io.penstock.wire.client.KvClientOptions;
import io.penstock.wire.credit.Rates;
import io.penstock.wire.protocol.ErrorCode;
import io.penstock.wire.protocol.Limits;
import io.penstock.wire.protocol.WireFailure.RateLimitedException;
import io.penstock.wire.report.StreamListener;
import io.penstock.wire.server.KvServer;
import io.penstock.wire.server.KvServerOptions;
import io.penstock.wire.simulate.LinkPlan;
import io.penstock.wire.simulate.SimulatedLink;
import io.penstock.wire.simulate.SimulatedTime;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;
import reactor.test.scheduler.VirtualTimeScheduler;

/// Requests beyond the rate of a connection are refused, bytes wait.
@Timeout(60)
final class ConnectionRateTest {
  private static final int SLICE_BYTES = 4096;
  private static final int BLOCKS = 32;
  private static final Duration PATIENCE = Duration.ofMinutes(5);
  private static final CacheSpace SPACE =
      CacheSpace.of("rates", BlockLayout.attention(1, 16, 1, 16, ElementType.BF16));
  private static final long ALL_BYTES = (long) BLOCKS * SPACE.layout().blockBytes();

  /// A node whose connections have `rates`, and clients, in virtual time.
  private static final class World implements AutoCloseable {
    final SimulatedTime time = new SimulatedTime(5);
    final SimulatedTime.CapturedDefaults defaults = time.captureDefaults();
    final HostTier tier = new HostTier(SPACE, BLOCKS, TierListener.noop());
    final ByteBudget node = new ByteBudget("node", 1 << 20, 64);
    final SlabArena arena = new SlabArena("client", SPACE.layout(), 2 * BLOCKS, 64);
    final ByteBudget budget = new ByteBudget("client", 1 << 20, 64);
    final AtomicLong refused = new AtomicLong();
    final AtomicLong delayedNanos = new AtomicLong();
    final SimulatedLink link =
        new SimulatedLink(time, "link", UnpooledByteBufAllocator.DEFAULT, number -> LinkPlan.quiet(), event -> {});
    final KvServer server;

    World(Rates rates) {
      StreamListener listener = new StreamListener() {
        @Override
        public void ended(Report report) {
          // the rates alone are watched
        }

        @Override
        public void requestRefused() {
          refused.incrementAndGet();
        }

        @Override
        public void bytesDelayed(long nanos) {
          delayedNanos.addAndGet(nanos);
        }
      };
      server = now(KvServer.bind(link.server(), tier, KvServerOptions.builder()
          .limits(new Limits(SLICE_BYTES, BLOCKS, 256)).rates(rates).streams(listener).build(), node,
          time.scheduler()));
    }

    KvClient client() {
      return client(Duration.ofSeconds(30));
    }

    /// @param patience answer timeout
    KvClient client(Duration patience) {
      return now(KvClient.connect(link.client(),
          KvClientOptions.builder().maxSliceBytes(SLICE_BYTES).answerTimeout(patience).build(), SPACE, arena, budget));
    }

    long nanos() {
      return time.scheduler().now(TimeUnit.NANOSECONDS);
    }

    <T> T now(Mono<T> work) {
      CompletableFuture<T> result = work.toFuture();
      assertThat(time.runUntil(result::isDone, PATIENCE)).isTrue();
      return result.join();
    }

    /// How long `work` takes.
    Duration took(Mono<?> work) {
      long began = nanos();
      now(work.thenReturn(true));
      return Duration.ofNanos(nanos() - began);
    }

    void pass(Duration pause) {
      time.advance(pause);
    }

    Mono<Long> put(KvClient client) {
      return client.put(keys(), new ProducingSource(arena, SliceShape.Order.LAYER_FIRST,
          (key, range, memory) -> Blocks.fill(key, range.offset(SPACE.layout()), memory))).count();
    }

    @Override
    public void close() {
      now(server.close().then(tier.close()).thenReturn(true));
      assertThat(arena.claimedSlots()).isZero();
      assertThat(budget.inUseBytes()).isZero();
      assertThat(node.inUseBytes()).isZero();
      defaults.close();
      arena.close();
    }
  }

  private static List<BlockKey> keys() {
    return Blocks.keys(SPACE, 0, BLOCKS);
  }

  private static Mono<Long> get(KvClient client, List<BlockKey> keys) {
    return Flux.using(BlockScope::new, scope -> client.lease(keys, OnMiss.SKIP, scope)
        .flatMapMany(lease -> lease.slices(scope)), BlockScope::close).map(slice -> {
          slice.spans().forEach(Blocks::assertBytes);
          long bytes = slice.bytes();
          slice.close();
          return bytes;
        }).reduce(0L, Long::sum);
  }

  private static Duration seconds(double seconds) {
    return Duration.ofNanos(Math.round(seconds * 1e9));
  }

  @Test
  void requestBeyondTheRate_isAskedAgainAtItsTurn() {
    try (World world = new World(new Rates(10, 0))) {
      KvClient client = world.client(); // hello counts
      for (int i = 1; i < 10; i++) {
        world.now(client.match(keys()));
      }

      // the requests before it took a few of these 100 ms
      assertThat(world.took(client.match(keys()))).isBetween(Duration.ofMillis(90), Duration.ofMillis(110));

      assertThat(world.refused).hasValue(1);
    }
  }

  @Test
  void callersBeyondTheRate_takeTurns() {
    try (World world = new World(new Rates(10, 0))) {
      KvClient client = world.client();

      Duration fifty = world.took(Flux.range(0, 50).flatMap(i -> client.match(keys()), 50).then());

      assertThat(fifty).isBetween(seconds(4), seconds(4.5));
      assertThat(world.refused).hasValueBetween(41, 50); // each waits once, not once for each before it
    }
  }

  @Test
  void putsAndGetsBeyondTheRate_areAskedAgain_andTheirBytesAreRight() {
    try (World world = new World(new Rates(10, 0))) {
      KvClient client = world.client();

      assertThat(world.now(Flux.range(0, 20).concatMap(i -> world.put(client), 1).reduce(0L, Long::sum)))
          .isEqualTo(BLOCKS);
      assertThat(world.now(Flux.range(0, 20).concatMap(i -> get(client, keys()), 1).reduce(0L, Long::sum)))
          .isEqualTo(20 * ALL_BYTES);
      assertThat(world.refused).hasPositiveValue();
    }
  }

  @Test
  void callThatIsCancelledWhileItWaits_asksNoMore() {
    try (World world = new World(new Rates(2, 0))) {
      KvClient client = world.client();
      world.now(client.match(keys()));
      Disposable waiting = client.match(keys()).subscribe();
      world.pass(Duration.ofMillis(100));
      assertThat(world.refused).hasValue(1);

      waiting.dispose();
      world.pass(seconds(2));

      assertThat(world.took(client.match(keys()).then(client.match(keys())))).isLessThan(seconds(0.1)); // the burst
    }
  }

  @Test
  void turnsOfCancelledCalls_areForOthers() {
    try (World world = new World(new Rates(10, 0))) {
      KvClient client = world.client();
      List<Disposable> waiting = IntStream.range(0, 200).mapToObj(i -> client.match(keys()).subscribe()).toList();
      world.pass(Duration.ofMillis(50));
      assertThat(world.refused).hasValueGreaterThan(180);

      waiting.forEach(Disposable::dispose);

      assertThat(world.took(client.match(keys()))).isLessThan(seconds(0.2));
    }
  }

  @Test
  void nodeThatNamesNoWait_isNotAskedWithoutEnd() {
    AtomicInteger asked = new AtomicInteger();
    VirtualTimeScheduler timers = VirtualTimeScheduler.create();
    RateTurns turns = new RateTurns(seconds(1), timers, StreamListener.noop(), Mono.never());

    AtomicReference<Throwable> end = new AtomicReference<>();
    turns.retried(Mono.error(() -> {
      asked.incrementAndGet();
      return new RateLimitedException(Long.MAX_VALUE, Duration.ZERO);
    })).subscribe(any -> {}, end::set);
    timers.advanceTimeBy(seconds(2));

    assertThat(end.get()).isInstanceOf(RateLimitedException.class);
    assertThat(asked.get()).isLessThanOrEqualTo(1002);
  }

  @Test
  void requestWhoseTurnComesTooLate_failsWithTheTimeToTryAgain() {
    try (World world = new World(new Rates(10, 0))) {
      KvClient client = world.client(Duration.ofMillis(50));
      for (int i = 1; i < 10; i++) {
        world.now(client.match(keys()));
      }

      CompletionException failure = catchThrowableOfType(CompletionException.class,
          () -> world.now(client.match(keys())));

      RateLimitedException refusal = (RateLimitedException) failure.getCause();
      assertThat(refusal.most()).isEqualTo(10);
      assertThat(refusal.retryAfter()).isBetween(Duration.ofMillis(1), Duration.ofMillis(100));
      assertThat(ErrorCode.RATE_LIMITED.isTransient()).isTrue();
      assertThat(world.refused).hasValue(1);
      world.pass(refusal.retryAfter());
      assertThat(world.now(client.match(keys()))).isZero();
    }
  }

  @Test
  void anotherConnection_hasARateOfItsOwn() {
    try (World world = new World(new Rates(2, 0))) {
      KvClient busy = world.client(Duration.ofMillis(50));
      KvClient other = world.client();
      world.now(busy.match(keys()));
      assertThat(catchThrowableOfType(CompletionException.class, () -> world.now(busy.match(keys()))))
          .hasCauseInstanceOf(RateLimitedException.class);

      assertThat(world.now(other.match(keys()))).isZero();
    }
  }

  @Test
  void putsAndGets_takeAsLongAsTheRateSays_andTheirBytesAreRight() {
    long rate = 2 * SLICE_BYTES;
    try (World world = new World(new Rates(0, rate))) {
      KvClient client = world.client();
      double withoutBurst = (ALL_BYTES - rate) / (double) rate;

      assertThat(world.took(world.put(client))).isBetween(seconds(withoutBurst), seconds(withoutBurst * 1.1 + 0.1));
      world.pass(seconds(2)); // the burst is there again
      assertThat(world.took(get(client, keys()))).isBetween(seconds(withoutBurst), seconds(withoutBurst * 1.1 + 0.1));
      assertThat(world.now(get(client, keys()))).isEqualTo(ALL_BYTES);
      assertThat(world.delayedNanos).hasPositiveValue();
    }
  }

  @Test
  void streamsSideBySide_shareTheRate() {
    long rate = 4 * SLICE_BYTES;
    try (World world = new World(new Rates(0, rate))) {
      KvClient client = world.client();
      world.now(world.put(client));
      world.pass(seconds(2));

      Duration four = world.took(Flux.range(0, 4).flatMap(i -> get(client, keys()), 4).then());

      double withoutBurst = (4 * ALL_BYTES - rate) / (double) rate;
      assertThat(four).isBetween(seconds(withoutBurst), seconds(withoutBurst * 1.1 + 0.1));
    }
  }

  @Test
  void getThatIsCancelledWhileItWaits_givesItsBytesBack() {
    try (World world = new World(new Rates(0, SLICE_BYTES))) {
      KvClient client = world.client();
      world.now(world.put(client));
      List<Disposable> waiting =
          IntStream.range(0, 8).mapToObj(i -> get(client, keys()).subscribe()).toList();
      world.pass(seconds(1.5));

      waiting.forEach(Disposable::dispose);
      world.pass(seconds(2)); // else eight slices would be before it

      assertThat(world.took(get(client, keys().subList(0, 2)))).isLessThan(seconds(0.1));
    }
  }

  @Test
  void overASocket_bothRatesHold() {
    Scheduler timers = Schedulers.newSingle("timers", true);
    int windowBlocks = 4;
    KvServerOptions options = WireNode.options(windowBlocks).withRates(new Rates(40, 64 << 10));
    CacheSpace space = CacheSpace.of("rates", BlockLayout.attention(2, 16, 2, 64, ElementType.BF16));
    try (WireNode node = new WireNode(Link.PENSTOCK, space, 64,
        StackOptions.defaults("dram").withIngressBlocks(4 * windowBlocks), options, 8L * WireNode.SLICE_BYTES,
        timers)) {
      KvClient client = node.client(windowBlocks);
      long began = System.nanoTime();
      List<BlockKey> keys = node.stored(client, 6);
      long moved = 2L * keys.size() * space.layout().blockBytes();

      assertThat(node.get(client, keys, OnMiss.SKIP).block(PATIENCE)).isEqualTo(moved / 2);

      assertThat(moved).isGreaterThan(64 << 10);
      assertThat(Duration.ofNanos(System.nanoTime() - began))
          .isGreaterThanOrEqualTo(seconds((moved - (64 << 10)) / (double) (64 << 10)));
      long asked = System.nanoTime();
      assertThat(Flux.range(0, 60).flatMap(i -> client.match(keys), 60).count().block(PATIENCE)).isEqualTo(60);
      assertThat(Duration.ofNanos(System.nanoTime() - asked)).isGreaterThanOrEqualTo(seconds(0.4)); // 20 over the burst
    }
  }
}
