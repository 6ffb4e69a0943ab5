package io.penstock.wire;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.UnpooledByteBufAllocator;
import io.penstock.KvException;
import io.penstock.block.Block;
import io.penstock.block.BlockDraft;
import io.penstock.block.BlockLayout.TokenOrder;
import io.penstock.block.BlockView;
import io.penstock.block.GranuleRange;
import io.penstock.block.Plane;
import io.penstock.block.SlabArena;
import io.penstock.flow.Production;
import io.penstock.flow.PushLayers;
import io.penstock.stack.HostTier;
import io.penstock.stack.shape.StackOptions;
import io.penstock.testkit.Blocks;
import io.penstock.testkit.LeakLedger;
import io.penstock.testkit.ReshardedModel;
import io.penstock.testkit.ReshardedModel.Rank;
import io.penstock.tier.ByteBudget;
import io.penstock.tier.OnMiss;
import io.penstock.tier.TierListener;
import io.penstock.tier.spi.ViewLanding;
import io.penstock.wire.client.KvClientOptions;
import io.penstock.wire.protocol.Limits;
import io.penstock.wire.rank.RemoteViews;
import io.penstock.wire.server.KvServer;
import io.penstock.wire.server.KvServerOptions;
import io.penstock.wire.simulate.LinkFault;
import io.penstock.wire.simulate.LinkPlan;
import io.penstock.wire.simulate.SimulatedLink;
import io.penstock.wire.simulate.SimulatedTime;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import reactor.core.publisher.Mono;

/// A prefill node pushes layers of requests to decode nodes: the real protocol over simulated links, in one thread.
@Timeout(120)
final class PushSimulationTest {
  private static final int LAYERS = 12;
  private static final int BLOCKS = 4;
  private static final long LAYER_MILLIS = 10;
  private static final long MILLION = 1_000_000;
  private static final ReshardedModel MODEL = new ReshardedModel(LAYERS, 2, List.of(
      new Plane(Plane.Kind.KEY, Plane.ElementType.BF16, 1, 32),
      new Plane(Plane.Kind.VALUE, Plane.ElementType.BF16, 1, 32)));
  private static final Rank FROM = MODEL.rank(0, LAYERS, 0, 2, 16, TokenOrder.NHD);
  /// One of the heads, in blocks of half as many tokens.
  private static final Rank TO = MODEL.rank(0, LAYERS, 1, 1, 8, TokenOrder.HND);
  private static final BlockView VIEW = BlockView.of(FROM.layout(), 0, LAYERS, 1, 1, 0, 16);
  private static final long LAYER_BYTES = (long) BLOCKS * VIEW.bytes(FROM.layout()) / LAYERS;

  /// One prefill node, and what happens to it.
  private static final class World {
    final SimulatedTime time;
    final LeakLedger leaks;
    final PushLayers push;
    final HostTier tier;
    final SlabArena computed;
    final List<BlockDraft> drafts = new ArrayList<>();
    final List<Production> productions = new ArrayList<>();

    World(long seed, LeakLedger leaks) {
      this.time = new SimulatedTime(seed);
      this.leaks = leaks;
      this.tier = new HostTier(FROM.space(), 16, StackOptions.defaults("dram"), TierListener.noop());
      this.push = new PushLayers(tier, List.of(time.scheduler()));
      this.computed = leaks.watch(new SlabArena("computed", FROM.layout(), 64, 1));
    }

    SimulatedLink link(LinkPlan plan) {
      return SimulatedLink.of(time, "link-" + plan.bytesPerSecond(), UnpooledByteBufAllocator.DEFAULT, plan);
    }

    KvServer serve(SimulatedLink link) {
      return now(KvServer.bind(link.server(), push,
          KvServerOptions.defaults().withLimits(new Limits(4096, 8, 64)).withSendWindowBytes(4 * 4096),
          leaks.watch(new ByteBudget("node", 1 << 20, 64)), time.scheduler()));
    }

    /// A request whose layers are computed one after another.
    void compute(String request) {
      List<BlockDraft> own = IntStream.range(0, BLOCKS).mapToObj(i -> Blocks.draft(computed, FROM.key(i))).toList();
      drafts.addAll(own);
      Production production = push.begin(request, BLOCKS, (block, granules) -> own.get(block).span(granules));
      productions.add(production);
      Production.Chunk chunk = production.chunk(BLOCKS);
      production.end();
      for (int i = 0; i < LAYERS; i++) {
        int layer = i;
        time.scheduler().schedule(() -> {
          for (int block = 0; block < BLOCKS && !production.isClosed(); block++) {
            FROM.produce(own.get(block), block, GranuleRange.layers(FROM.layout(), layer, layer + 1));
          }
          chunk.ready(layer);
        }, (i + 1) * LAYER_MILLIS, TimeUnit.MILLISECONDS);
      }
    }

    RemoteViews connect(SimulatedLink link) {
      return now(connecting(link));
    }

    Mono<RemoteViews> connecting(SimulatedLink link) {
      return RemoteViews.connect(link.client(),
          KvClientOptions.builder().maxSliceBytes(4096).answerTimeout(Duration.ofSeconds(5)).build(), TO.space(),
          leaks.watch(new ByteBudget("decode", 4 * 4096, 16)));
    }

    <T> T now(Mono<T> mono) {
      CompletableFuture<T> done = mono.toFuture();
      assertThat(time.runUntil(done::isDone, Duration.ofMinutes(1))).as("it ends").isTrue();
      return done.join();
    }

    void close() {
      productions.forEach(Production::close);
      drafts.forEach(BlockDraft::close);
      time.advance(Duration.ofSeconds(100));
    }
  }

  /// The blocks of one decode rank.
  private static final class Decode {
    private final List<BlockDraft> drafts = new ArrayList<>();
    private final ViewLanding landing = new ViewLanding(FROM.layout(), VIEW);
    private final World world;
    private long endedNanos = -1;
    private Throwable failure;

    Decode(World world) {
      this.world = world;
      SlabArena arena = world.leaks.watch(new SlabArena("decode", TO.layout(), 2 * BLOCKS, 1));
      for (int block = 0; block < 2 * BLOCKS; block++) {
        BlockDraft draft = Blocks.draft(arena, TO.key(block));
        landing.to(block / 2, block % 2 * 8, draft.part(BlockView.all(TO.layout())));
        drafts.add(draft);
      }
    }

    void receive(RemoteViews views, String request) {
      views.fetch(PushLayers.keys(FROM.space(), request, BLOCKS), OnMiss.AWAIT, landing).subscribe(landed -> {},
          error -> failure = error, () -> endedNanos = world.time.nanos());
    }

    boolean isOver() {
      return failure != null || endedNanos >= 0;
    }

    void requireBytes() {
      assertThat(failure).isNull();
      for (int i = 0; i < drafts.size(); i++) {
        int block = i;
        try (Block sealed = drafts.get(i).seal().verify("test")) {
          sealed.read(memory -> {
            TO.requireBytes(block, 0, Integer.MAX_VALUE, memory);
            return memory;
          });
        }
      }
    }

    void close() {
      drafts.forEach(BlockDraft::close);
    }
  }

  /// A link on which a layer takes `millis`.
  private static LinkPlan aLayerIn(double millis) {
    return LinkPlan.quiet().withBytesPerSecond((long) (LAYER_BYTES * 1000 / millis));
  }

  @Test
  void transfer_overlapsWithCompute() {
    try (LeakLedger leaks = new LeakLedger()) {
      World world = new World(1, leaks);
      try (var _ = world.time.captureDefaults()) {
        SimulatedLink link = world.link(aLayerIn(0.8 * LAYER_MILLIS));
        KvServer server = world.serve(link);
        RemoteViews views = world.connect(link);
        Decode decode = new Decode(world);
        decode.receive(views, "overlap");
        long start = world.time.nanos();
        world.compute("overlap");
        assertThat(world.time.runUntil(decode::isOver, Duration.ofMinutes(1))).isTrue();
        decode.requireBytes();
        double millis = (decode.endedNanos - start) / (double) MILLION;
        assertThat(millis).isGreaterThan(LAYERS * LAYER_MILLIS)
            .isLessThanOrEqualTo(1.1 * LAYERS * LAYER_MILLIS + 0.8 * LAYER_MILLIS);
        world.now(views.close());
        world.close();
        world.now(server.close());
      }
      world.now(world.tier.close());
    }
  }

  @Test
  void aSlowDecodeNode_slowsItsOwnRequestAlone_andItsQueueIsBounded() {
    try (LeakLedger leaks = new LeakLedger()) {
      World world = new World(2, leaks);
      try (var _ = world.time.captureDefaults()) {
        SimulatedLink slow = world.link(aLayerIn(100 * LAYER_MILLIS));
        SimulatedLink fast = world.link(aLayerIn(0.5 * LAYER_MILLIS));
        KvServer slowSide = world.serve(slow);
        KvServer fastSide = world.serve(fast);
        RemoteViews slowViews = world.connect(slow);
        RemoteViews fastViews = world.connect(fast);
        Decode atSlow = new Decode(world);
        Decode atFast = new Decode(world);
        atSlow.receive(slowViews, "slow");
        atFast.receive(fastViews, "fast");
        world.time.advance(Duration.ofMillis(100));
        long start = world.time.nanos();
        world.compute("slow");
        world.compute("fast");
        assertThat(world.time.runUntil(atFast::isOver, Duration.ofMinutes(1))).isTrue();
        atFast.requireBytes();
        assertThat((atFast.endedNanos - start) / (double) MILLION)
            .isLessThanOrEqualTo(1.1 * LAYERS * LAYER_MILLIS + 0.5 * LAYER_MILLIS);
        assertThat(atSlow.isOver()).isFalse();
        assertThat(world.time.runUntil(atSlow::isOver, Duration.ofMinutes(5))).isTrue();
        atSlow.requireBytes();
        world.now(slowViews.close());
        world.now(fastViews.close());
        world.close();
        world.now(slowSide.close());
        world.now(fastSide.close());
      }
      world.now(world.tier.close());
    }
  }

  @Test
  void pushesOverFaultyLinks_endRight_orWithATypedError() {
    run(0, 25);
  }

  @Tag("proof")
  @Timeout(1200)
  @Test
  void pushesOverFaultyLinks_endRight_orWithATypedError_atLength() {
    run(1_000, 6_000);
  }

  private static void run(int from, int to) {
    for (int seed = from; seed < to; seed++) {
      try (LeakLedger leaks = new LeakLedger()) {
        faulty(seed, leaks);
      } catch (RuntimeException | AssertionError e) {
        throw new AssertionError("seed " + seed, e);
      }
    }
  }

  private static void faulty(int seed, LeakLedger leaks) {
    SplittableRandom random = new SplittableRandom(seed);
    World world = new World(seed, leaks);
    try (var _ = world.time.captureDefaults()) {
      SimulatedLink link = world.link(aLayerIn(LAYER_MILLIS).withFaults(LinkFault.random(random, 40)));
      KvServer server = world.serve(link);
      List<Decode> decodes = new ArrayList<>();
      List<Throwable> refused = new ArrayList<>();
      for (int i = 0; i < 2; i++) {
        String request = "request-" + i;
        Decode decode = new Decode(world);
        decodes.add(decode);
        world.connecting(link).subscribe(views -> decode.receive(views, request), error -> {
          refused.add(error);
          decode.failure = error;
        });
        world.time.advance(Duration.ofMillis(random.nextInt(50)));
        world.compute(request);
      }
      assertThat(world.time.runUntil(() -> decodes.stream().allMatch(Decode::isOver), Duration.ofMinutes(10)))
          .as("all end").isTrue();
      for (Decode decode : decodes) {
        if (decode.failure == null) {
          decode.requireBytes();
        } else {
          assertThat(decode.failure).isInstanceOf(KvException.class);
          decode.close();
        }
      }
      world.close();
      world.now(server.close());
    }
    world.now(world.tier.close());
  }
}
