package io.penstock.wire;

import static java.util.Objects.requireNonNull;

import io.penstock.block.BlockDraft;
import io.penstock.block.BlockHash;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockLayout;
import io.penstock.block.BlockView;
import io.penstock.block.CacheSpace;
import io.penstock.block.GranuleRange;
import io.penstock.block.Plane.ElementType;
import io.penstock.block.SlabArena;
import io.penstock.flow.Production;
import io.penstock.flow.PushLayers;
import io.penstock.stack.HostTier;
import io.penstock.tier.ByteBudget;
import io.penstock.tier.OnMiss;
import io.penstock.tier.TierListener;
import io.penstock.tier.spi.ViewLanding;
import io.penstock.wire.client.KvClientOptions;
import io.penstock.wire.rank.RemoteViews;
import io.penstock.wire.server.KvServer;
import io.penstock.wire.server.KvServerOptions;
import io.penstock.wire.transport.tcp.TcpClientOptions;
import io.penstock.wire.transport.tcp.TcpListener;
import io.penstock.wire.transport.tcp.TcpServerOptions;
import io.penstock.wire.transport.tcp.TcpTransport;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;
import reactor.netty.resources.LoopResources;

/// How much of a transfer a push hides behind the computation, over loopback sockets: computing a layer is a wait of t,
/// and t is chosen so that the transfer of a layer takes 0.8 t. Rounds of a push, layer by layer, and of a transfer
/// after the last layer take turns.
///
/// `mvn -Pjmh -pl rsocket-api/wire -am verify -Djmh.main=io.penstock.wire.OverlapComparison
/// -Djmh.include="7 12 256"`: rounds, layers, blocks of 64 KiB a layer.
public final class OverlapComparison {
  private static final Duration PATIENCE = Duration.ofMinutes(1);
  private static final double TRANSFER_PART = 0.8;
  private static final double ALLOWED = 1.1;
  private static final int WARM_UP = 3;

  private final int layers;
  private final int blocks;
  private final CacheSpace space;
  private final List<BlockKey> contents;
  private final Scheduler sending = Schedulers.newSingle("sending", true);
  private final Scheduler timers = Schedulers.newSingle("timers", true);
  private final LoopResources loops = LoopResources.create("overlap", 1, 2, true);
  private final SlabArena computed;
  private final SlabArena landed;
  private final HostTier tier;
  private final PushLayers push;
  private final List<BlockDraft> drafts;
  private final KvServer server;
  private final RemoteViews views;
  private int number;

  private OverlapComparison(int layers, int blocks) {
    this.layers = layers;
    this.blocks = blocks;
    this.space = CacheSpace.of("overlap", BlockLayout.attention(layers, 16, 8, 128, ElementType.BF16));
    this.contents = IntStream.range(0, blocks).mapToObj(block -> space.key(new BlockHash(1, block))).toList();
    this.computed = new SlabArena("computed", space.layout(), blocks, 1);
    this.landed = new SlabArena("landed", space.layout(), blocks, 1);
    this.tier = new HostTier(space, 1, TierListener.noop());
    this.push = new PushLayers(tier, List.of(sending));
    this.drafts = claim(computed);
    GranuleRange all = GranuleRange.all(space.layout());
    drafts.forEach(draft -> {
      draft.write(all, memory -> memory.fill((byte) 7));
      draft.produced(all);
    });
    this.server = requireNonNull(KvServer.bind(TcpTransport.server(TcpServerOptions.on("127.0.0.1", 0), loops), push,
        KvServerOptions.defaults(), new ByteBudget("prefill", 64 << 20, 64), timers).block(PATIENCE));
    this.views = requireNonNull(RemoteViews.connect(
        TcpTransport.client(TcpClientOptions.to("127.0.0.1", ((TcpListener) server.listening()).port()), loops),
        KvClientOptions.defaults(), space, new ByteBudget("decode", 64 << 20, 64)).block(PATIENCE));
  }

  private List<BlockDraft> claim(SlabArena arena) {
    return requireNonNull(arena.tryClaim(contents), "drafts");
  }

  /// One request, which its reader has asked for before.
  ///
  /// @param layerNanos computes a layer
  /// @param isPush whether a layer is ready when it is computed, or when all are
  /// @return nanoseconds from the start of the computation until all bytes have landed
  private long request(long layerNanos, boolean isPush) {
    String request = "request " + number++;
    List<BlockDraft> into = claim(landed);
    BlockView all = BlockView.all(space.layout());
    ViewLanding landing = new ViewLanding(space.layout(), all);
    for (int block = 0; block < blocks; block++) {
      landing.to(block, 0, into.get(block).part(all));
    }
    CompletableFuture<?> end =
        views.fetch(PushLayers.keys(space, request, blocks), OnMiss.AWAIT, landing).then().toFuture();
    while (push.waiting() == 0) {
      LockSupport.parkNanos(100_000);
    }
    long begin = System.nanoTime();
    Production production = push.begin(request, blocks, (block, granules) -> drafts.get(block).span(granules));
    Production.Chunk chunk = production.chunk(blocks);
    production.end();
    for (int layer = 0; layer < layers; layer++) {
      sleepUntil(begin + (isPush ? layer + 1 : layers) * layerNanos);
      chunk.ready(layer);
    }
    end.join();
    long took = System.nanoTime() - begin;
    production.close();
    into.forEach(BlockDraft::close);
    return took;
  }

  private static void sleepUntil(long nanos) {
    for (long left = nanos - System.nanoTime(); left > 0; left = nanos - System.nanoTime()) {
      LockSupport.parkNanos(left);
    }
  }

  private static double median(double[] values) {
    double[] sorted = values.clone();
    Arrays.sort(sorted);
    return sorted[sorted.length / 2];
  }

  private double transferMillis(int rounds) {
    return median(IntStream.range(0, rounds).mapToDouble(round -> request(0, false) / 1e6).toArray());
  }

  private void run(int rounds) {
    transferMillis(WARM_UP * rounds);
    double transfer = transferMillis(rounds);
    double layer = transfer / layers / TRANSFER_PART;
    double[] pushed = new double[rounds];
    double[] after = new double[rounds];
    for (int round = 0; round < rounds; round++) {
      pushed[round] = request((long) (layer * 1e6), true) / 1e6;
      after[round] = request((long) (layer * 1e6), false) / 1e6;
    }
    double compute = layers * layer;
    double bound = ALLOWED * compute + transfer / layers;
    System.out.printf("%d layers of %d MiB; t %.2f ms a layer, transfer %.2f ms a layer (%.2f GB/s), %d rounds%n",
        layers, ((long) blocks * space.layout().layerBytes()) >> 20, layer, transfer / layers,
        (double) blocks * space.layout().blockBytes() / transfer / 1e6, rounds);
    System.out.printf("push                    %.1f ms, median; %.3f x layers x t; bound %.1f ms: %s%n", median(pushed),
        median(pushed) / compute, bound, median(pushed) <= bound ? "within" : "BEYOND");
    System.out.printf("compute + one layer     %.1f ms, the least that there is%n", compute + transfer / layers);
    System.out.printf("transfer after compute  %.1f ms, median; a push takes %.2f of it%n", median(after),
        median(pushed) / median(after));
  }

  private void close() {
    views.close().then(server.close()).block(PATIENCE);
    drafts.forEach(BlockDraft::close);
    push.close().block(PATIENCE);
    computed.close();
    landed.close();
    sending.dispose();
    timers.dispose();
    loops.disposeLater(Duration.ZERO, PATIENCE).block(PATIENCE);
  }

  /// Runs the comparison.
  public static void main(String[] args) {
    int rounds = args.length > 0 ? Integer.parseInt(args[0]) : 7;
    OverlapComparison comparison = new OverlapComparison(args.length > 1 ? Integer.parseInt(args[1]) : 12,
        args.length > 2 ? Integer.parseInt(args[2]) : 256);
    comparison.run(rounds);
    comparison.close();
  }
}
