package io.penstock.wire;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.UnpooledByteBufAllocator;
import io.penstock.KvException;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockLayout;
import io.penstock.block.BlockScope;
import io.penstock.block.CacheSpace;
import io.penstock.block.LayerSlice;
import io.penstock.block.Plane.ElementType;
import io.penstock.block.SlabArena;
import io.penstock.block.SliceShape;
import io.penstock.flow.ProducingSource;
import io.penstock.stack.HostTier;
import io.penstock.stack.shape.StackOptions;
import io.penstock.testkit.Blocks;
import io.penstock.testkit.LeakLedger;
import io.penstock.tier.ByteBudget;
import io.penstock.tier.OnMiss;
import io.penstock.tier.TierListener;
import io.penstock.wire.client.KvClient;
import io.penstock.wire.client.KvClientOptions;
import io.penstock.wire.protocol.Limits;
import io.penstock.wire.server.KvServer;
import io.penstock.wire.server.KvServerOptions;
import io.penstock.wire.simulate.Direction;
import io.penstock.wire.simulate.LinkFault;
import io.penstock.wire.simulate.LinkPlan;
import io.penstock.wire.simulate.SimulatedLink;
import io.penstock.wire.simulate.SimulatedTime;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;

/// Hours of a node whose clients come and go, in virtual time: connect, get, put, cancel, read late, idle, break off;
/// the node starts again now and then. At every full hour all is quiet for a while: nothing is lent then, and what
/// node, tier and clients keep has not grown.
final class ChurnSimulationTest {
  private static final CacheSpace SPACE =
      CacheSpace.of("churn", BlockLayout.attention(4, 16, 2, 16, ElementType.BF16));
  private static final int SLICE_BYTES = 4096;
  private static final int WINDOW = 4;
  private static final int KEYS = 400;
  private static final int CAPACITY = 128;
  private static final Duration QUIET = Duration.ofMinutes(12);
  private static final Duration SOON = Duration.ofMinutes(10);

  @Test
  @Timeout(60)
  void hoursOfChurn_leaveNothing() {
    churn(4, 2, Duration.ofSeconds(100));
  }

  /// Ten thousand connections.
  @Tag("proof")
  @Test
  @Timeout(1200)
  void aDayOfChurn_leavesNothing() {
    churn(24, 12, Duration.ofSeconds(7));
  }

  /// @param restartHours hours in which the node starts again; the objects of the hour after them are the measure, so
  ///     there must be enough of them for the log of events to fill
  /// @param between time between two new connections
  private static void churn(int hours, int restartHours, Duration between) {
    try (World world = new World(18, between)) {
      Map<String, Integer> measure = Map.of();
      for (int hour = 0; hour < hours; hour++) {
        world.hour(hour < restartHours);
        if (hour == restartHours) {
          measure = world.census();
        }
      }
      System.out.println(world.counts + ", " + world.time.steps() + " steps");
      assertThat(growth(measure, world.census())).isEmpty();
    }
  }

  /// Classes with more objects than before, beyond a tenth of them and a few.
  private static List<String> growth(Map<String, Integer> before, Map<String, Integer> after) {
    return after.entrySet().stream()
        .filter(entry -> entry.getValue() > before.getOrDefault(entry.getKey(), 0) * 1.1 + 8)
        .map(entry -> entry.getKey() + ": " + before.getOrDefault(entry.getKey(), 0) + " to " + entry.getValue())
        .toList();
  }

  /// A node and its clients in virtual time.
  private static final class World implements AutoCloseable {
    private final LeakLedger leaks = new LeakLedger();
    private final SimulatedTime time;
    private final SimulatedTime.CapturedDefaults defaults;
    private final RandomGenerator random;
    private final Scheduler timers;
    private final Duration between;
    private final SimulatedLink link;
    private final HostTier tier;
    private final ByteBudget budget = leaks.watch(new ByteBudget("node", 64 * SLICE_BYTES, 1024));
    private final SlabArena arena = leaks.watch(new SlabArena("clients", SPACE.layout(), 512, 1024));
    private final ByteBudget clients = leaks.watch(new ByteBudget("clients", 256 * SLICE_BYTES, 1024));
    private final Map<String, Integer> counts = new TreeMap<>();
    private final List<KvClient> staying = new ArrayList<>();
    private KvServer server;
    private int sessions;

    World(long seed, Duration between) {
      this.time = new SimulatedTime(seed);
      this.defaults = time.captureDefaults();
      this.random = time.random("churn");
      this.timers = time.scheduler();
      this.between = between;
      this.link = new SimulatedLink(time, "link", UnpooledByteBufAllocator.DEFAULT, number -> plan(), event -> {});
      this.tier =
          new HostTier(SPACE, CAPACITY, StackOptions.defaults("dram").withIngressBlocks(64).withEventLogSize(64),
              TierListener.noop());
      this.server = start();
    }

    private KvServer start() {
      return now(KvServer.bind(link.server(), tier,
          KvServerOptions.builder().limits(new Limits(SLICE_BYTES, WINDOW, 256)).build(), budget, timers));
    }

    /// Every third connection breaks at some frame, or is silent from there on.
    private LinkPlan plan() {
      return switch (random.nextInt(6)) {
        case 0 -> LinkPlan.quiet().withFaults(LinkFault.random(random, 60));
        case 1 -> LinkPlan.quiet().withFaults(new LinkFault.Stall(
            random.nextBoolean() ? Direction.UP : Direction.DOWN, random.nextInt(60), Duration.ofMinutes(8)));
        default -> LinkPlan.quiet();
      };
    }

    /// An hour of connections that come and go, then quiet.
    void hour(boolean restarts) {
      long end = time.nanos() + Duration.ofHours(1).minus(QUIET).toNanos();
      long restart = restarts ? time.nanos() + random.nextLong(end - time.nanos()) : Long.MAX_VALUE;
      while (time.nanos() < end) {
        if (time.nanos() > restart) {
          now(server.close().thenReturn(true));
          server = start();
          restart = Long.MAX_VALUE;
          add("restarts");
        }
        session();
        if (random.nextInt(4) == 0) {
          stay();
        }
        time.advance(between.dividedBy(2).plusNanos(random.nextLong(between.toNanos())));
      }
      time.advance(QUIET);
      requireQuiet();
    }

    private void requireQuiet() {
      assertThat(sessions).as("sessions under way").isZero();
      assertThat(server.runningStreams()).as("running streams").isZero();
      leaks.assertEmpty();
      var stat = now(tier.stat());
      assertThat(stat.claimedBytes()).isEqualTo(stat.bytes());
    }

    /// The log of events is full; which events it has varies.
    Map<String, Integer> census() {
      Map<String, Integer> census = new TreeMap<>();
      Census.of(server, tier, budget, arena, clients, link, time, staying).forEach(
          (name, count) -> census.merge(name.replaceAll("TierEvent\\$\\w+", "TierEvent"), count, Integer::sum));
      return census;
    }

    private void add(String what) {
      counts.merge(what, 1, Integer::sum);
    }

    /// A client that comes, works and goes.
    private void session() {
      sessions++;
      connect().flatMap(client -> Flux.range(0, random.nextInt(1, 5))
          .concatMap(i -> step(client).delaySubscription(seconds(40), timers), 1)
          .then(Mono.defer(client::close)))
          .onErrorComplete(this::isTyped).doFinally(end -> sessions--).subscribe();
    }

    /// A step of one of the clients that stay as long as their connections do.
    private void stay() {
      if (staying.size() < 4) {
        sessions++;
        connect().doOnNext(this::keep).then().onErrorComplete(this::isTyped).doFinally(end -> sessions--).subscribe();
      } else {
        sessions++;
        step(staying.get(random.nextInt(staying.size()))).doFinally(end -> sessions--).subscribe();
      }
    }

    private void keep(KvClient client) {
      staying.add(client);
      client.onClose().doFinally(end -> staying.remove(client)).subscribe();
    }

    private Mono<KvClient> connect() {
      add("connections");
      return KvClient.connect(link.client(), KvClientOptions.builder().maxSliceBytes(SLICE_BYTES).windowBlocks(WINDOW)
          .build(), SPACE, arena, clients);
    }

    private boolean isTyped(Throwable error) {
      add(error.getClass().getSimpleName());
      return error instanceof KvException;
    }

    private Duration seconds(int most) {
      return Duration.ofMillis(random.nextLong(most * 1000L));
    }

    private Duration moment() {
      return Duration.ofNanos(random.nextLong(2_000_000));
    }

    /// Anything that a client may do, to its end.
    private Mono<Void> step(KvClient client) {
      return Mono.defer(() -> {
        int kind = random.nextInt(11);
        add("steps");
        return switch (kind) {
          case 0, 1 -> slices(client, OnMiss.SKIP).then();
          case 2, 3 -> put(client).then();
          case 4 -> slices(client, OnMiss.SKIP).take(random.nextInt(1, 9)).then();
          case 5 -> put(client).takeUntilOther(Mono.delay(moment(), timers)).then();
          case 6 -> slices(client, OnMiss.SKIP).takeUntilOther(Mono.delay(moment(), timers)).then();
          case 7 -> Mono.using(BlockScope::new, scope -> client.lease(keys(), OnMiss.SKIP, scope)
              .delayElement(seconds(100), timers), BlockScope::close).then();
          case 8 -> slices(client, OnMiss.SKIP).concatMap(slice -> Mono.delay(seconds(30), timers), 1)
              .take(random.nextInt(1, 6)).then();
          case 9 -> slices(client, OnMiss.AWAIT).takeUntilOther(Mono.delay(seconds(90), timers)).then();
          default -> client.contains(keys()).then(client.match(keys())).then(client.stat())
              .then(client.follow().take(random.nextInt(1, 200)).takeUntilOther(Mono.delay(seconds(60), timers))
                  .then())
              .then(client.remove(keys())).then();
        };
      }).onErrorComplete(this::isTyped);
    }

    private List<BlockKey> keys() {
      int from = random.nextInt(KEYS);
      return Blocks.keys(SPACE, from, from + random.nextInt(1, 12));
    }

    /// Each compared and closed.
    private Flux<Integer> slices(KvClient client, OnMiss onMiss) {
      return Flux.using(BlockScope::new, scope -> client.lease(keys(), onMiss, scope)
          .flatMapMany(lease -> lease.slices(scope)), BlockScope::close).map(World::compared);
    }

    private static int compared(LayerSlice slice) {
      try (slice) {
        slice.spans().forEach(Blocks::assertBytes);
        return slice.bytes();
      }
    }

    private Flux<?> put(KvClient client) {
      return client.put(keys(), new ProducingSource(arena, SliceShape.Order.LAYER_FIRST,
          (key, range, to) -> Blocks.fill(key, range.offset(SPACE.layout()), to)));
    }

    private <T> T now(Mono<T> work) {
      CompletableFuture<T> result = work.toFuture();
      assertThat(time.runUntil(result::isDone, SOON)).as("done").isTrue();
      return result.join();
    }

    @Override
    public void close() {
      List.copyOf(staying).forEach(client -> now(client.close().thenReturn(true)));
      now(server.close().thenReturn(true));
      now(tier.close().thenReturn(true));
      defaults.close();
      leaks.close();
    }
  }
}
