package io.penstock.wire;

import static org.assertj.core.api.Assertions.assertThat;

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
import io.penstock.testkit.LeakLedger;
import io.penstock.tier.ByteBudget;
import io.penstock.tier.OnMiss;
import io.penstock.tier.TierListener;
import io.penstock.wire.client.KvClient;
import io.penstock.wire.client.KvClientOptions;
import io.penstock.wire.protocol.Limits;
import io.penstock.wire.server.KvServer;
import io.penstock.wire.server.KvServerOptions;
import io.penstock.wire.simulate.LinkPlan;
import io.penstock.wire.simulate.SimulatedLink;
import io.penstock.wire.simulate.SimulatedTime;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/// One producer and eight destinations, one of them on a link of 1 MB/s: the other seven have at least 0.9 of the rate
/// that they have without it, and what the slow one holds is bounded.
@Timeout(60)
final class SlowDestinationTest {
  private static final CacheSpace SPACE =
      CacheSpace.of("slow", BlockLayout.attention(8, 16, 2, 64, ElementType.BF16));
  private static final int SLICE_BYTES = 32 << 10;
  private static final int WINDOW = 4;
  private static final int FAST = 7;
  /// Gets, or puts, of one destination at a time.
  private static final int AT_WORK = 2;
  private static final long SLOW_RATE = 1_000_000;
  private static final long FAST_RATE = 5_000_000;
  private static final long SEND_WINDOW = 4L * SLICE_BYTES;
  private static final Duration MEASURED = Duration.ofMillis(400);
  private static final Duration PATIENCE = Duration.ofSeconds(30);

  /// @param windows send windows that the node's budget is worth
  @ParameterizedTest
  @ValueSource(ints = {12, 4})
  void node_servesSevenReaders_asFastBesideASlowOne(int windows) {
    List<Long> alone;
    try (Serving world = new Serving(windows, 0)) {
      alone = world.rates();
    }
    try (Serving world = new Serving(windows, 1)) {
      requireAsFast(alone, world.rates());
      assertThat(world.budget.peakBytes()).isLessThanOrEqualTo(windows * SEND_WINDOW);
    }
  }

  /// The writer's arena holds one window for each put under way.
  @Test
  void writer_fillsSevenNodes_asFastBesideASlowOne() {
    List<Long> alone;
    try (Filling world = new Filling(0)) {
      alone = world.rates();
    }
    try (Filling world = new Filling(1)) {
      requireAsFast(alone, world.rates());
    }
  }

  private static void requireAsFast(List<Long> alone, List<Long> beside) {
    long least = alone.stream().mapToLong(Long::longValue).sum() * 9 / 10;
    assertThat(alone).allMatch(bytes -> bytes > FAST_RATE * MEASURED.toMillis() / 1000 / 4);
    assertThat(beside.subList(0, FAST).stream().mapToLong(Long::longValue).sum()).isGreaterThanOrEqualTo(least);
    for (int i = 0; i < FAST; i++) {
      assertThat(beside.get(i)).as("destination %d", i).isGreaterThanOrEqualTo(alone.get(i) * 9 / 10);
    }
    assertThat(beside.get(FAST)).as("the slow one").isPositive()
        .isLessThanOrEqualTo(SLOW_RATE * MEASURED.toMillis() / 1000 + 2 * (256 << 10));
  }

  /// A world of virtual time with `FAST` destinations and some slow ones, which all work until told to stop.
  private abstract static class World implements AutoCloseable {
    final LeakLedger leaks = new LeakLedger();
    final SimulatedTime time = new SimulatedTime(7);
    final int destinations;
    private final SimulatedTime.CapturedDefaults defaults = time.captureDefaults();
    private final long[] bytes;
    private boolean stopped;

    World(int slow) {
      this.destinations = FAST + slow;
      this.bytes = new long[destinations];
    }

    abstract Mono<Void> once(int destination);

    abstract void end();

    static LinkPlan plan(int destination) {
      return LinkPlan.quiet().withWindowBytes(256 << 10).withBytesPerSecond(destination < FAST ? FAST_RATE : SLOW_RATE);
    }

    void moved(int destination, long moved) {
      bytes[destination] += moved;
    }

    /// Bytes that each destination had in the time measured, from a moment on at which all are at work.
    List<Long> rates() {
      List<CompletableFuture<Void>> running = new ArrayList<>();
      for (int i = 0; i < AT_WORK * destinations; i++) {
        int destination = i % destinations;
        running.add(Mono.defer(() -> once(destination)).repeat(() -> !stopped).then().toFuture());
      }
      time.advance(MEASURED);
      long[] before = bytes.clone();
      time.advance(MEASURED);
      List<Long> rates = IntStream.range(0, destinations).mapToObj(i -> bytes[i] - before[i]).toList();
      stopped = true;
      running.forEach(each -> now(Mono.fromFuture(each).thenReturn(true)));
      return rates;
    }

    SimulatedLink link(String name, int first) {
      return new SimulatedLink(time, name, UnpooledByteBufAllocator.DEFAULT, number -> plan(first + number),
          event -> {});
    }

    KvServer server(SimulatedLink link, HostTier tier, ByteBudget budget) {
      return now(KvServer.bind(link.server(), tier, KvServerOptions.builder()
          .limits(new Limits(SLICE_BYTES, WINDOW, 256)).sendWindowBytes(SEND_WINDOW).build(), budget,
          time.scheduler()));
    }

    KvClient client(SimulatedLink link, SlabArena arena, ByteBudget into) {
      return now(KvClient.connect(link.client(), KvClientOptions.builder().maxSliceBytes(SLICE_BYTES)
          .windowBlocks(WINDOW).sendWindowBytes(SEND_WINDOW).build(), SPACE, arena, into));
    }

    HostTier tier(int blocks) {
      return new HostTier(SPACE, blocks, StackOptions.defaults("dram").withIngressBlocks(8 * WINDOW),
          TierListener.noop());
    }

    <T> T now(Mono<T> work) {
      CompletableFuture<T> result = work.toFuture();
      assertThat(time.runUntil(result::isDone, PATIENCE)).as("done").isTrue();
      return result.join();
    }

    static ProducingSource source(SlabArena arena) {
      return new ProducingSource(arena, SliceShape.Order.LAYER_FIRST,
          (key, range, to) -> Blocks.fill(key, range.offset(SPACE.layout()), to));
    }

    @Override
    public void close() {
      end();
      defaults.close();
      leaks.close();
    }
  }

  /// A node and its readers.
  private static final class Serving extends World {
    private static final int STORED = 16;
    private final HostTier tier = tier(2 * STORED);
    private final ByteBudget budget;
    private final KvServer server;
    private final List<KvClient> readers;

    Serving(int windows, int slow) {
      super(slow);
      budget = leaks.watch(new ByteBudget("node", windows * SEND_WINDOW, 256));
      SimulatedLink link = link("readers", 0);
      server = server(link, tier, budget);
      readers = IntStream.range(0, destinations).mapToObj(i -> client(link,
          leaks.watch(new SlabArena("reader", SPACE.layout(), 4 * WINDOW, 64)),
          leaks.watch(new ByteBudget("reader", 32L * SLICE_BYTES, 64)))).toList();
      now(readers.getFirst().put(Blocks.keys(SPACE, 0, STORED),
          source((SlabArena) readers.getFirst().arena())).count());
    }

    @Override
    Mono<Void> once(int destination) {
      return Flux.using(BlockScope::new, scope -> readers.get(destination)
          .lease(Blocks.keys(SPACE, 0, WINDOW), OnMiss.SKIP, scope)
          .flatMapMany(lease -> lease.slices(scope)), BlockScope::close).doOnNext(slice -> {
            try (slice) {
              slice.spans().forEach(Blocks::assertBytes);
              moved(destination, slice.bytes());
            }
          }).then();
    }

    @Override
    void end() {
      readers.forEach(reader -> now(reader.close().thenReturn(true)));
      now(server.close().thenReturn(true));
      now(tier.close().thenReturn(true));
    }
  }

  /// A writer and its nodes: one source and one arena for all.
  private static final class Filling extends World {
    private final SlabArena arena;
    private final ProducingSource source;
    private final List<HostTier> tiers = new ArrayList<>();
    private final List<KvServer> servers = new ArrayList<>();
    private final List<KvClient> writers = new ArrayList<>();
    private long written;

    Filling(int slow) {
      super(slow);
      arena = leaks.watch(new SlabArena("writer", SPACE.layout(), AT_WORK * (FAST + 1) * WINDOW, 64));
      source = source(arena);
      ByteBudget budget = leaks.watch(new ByteBudget("writer", 32L * SLICE_BYTES, 64));
      for (int i = 0; i < destinations; i++) {
        SimulatedLink link = link("node " + i, i);
        tiers.add(tier(64));
        servers.add(server(link, tiers.getLast(), leaks.watch(new ByteBudget("node", 12 * SEND_WINDOW, 64))));
        writers.add(client(link, arena, budget));
      }
    }

    @Override
    Mono<Void> once(int destination) {
      List<BlockKey> keys = Blocks.keys(SPACE, written, written + WINDOW);
      written += WINDOW;
      return writers.get(destination).put(keys, source)
          .doOnNext(receipt -> moved(destination, SPACE.layout().blockBytes())).then();
    }

    @Override
    void end() {
      writers.forEach(writer -> now(writer.close().thenReturn(true)));
      servers.forEach(server -> now(server.close().thenReturn(true)));
      tiers.forEach(tier -> now(tier.close().thenReturn(true)));
    }
  }
}
