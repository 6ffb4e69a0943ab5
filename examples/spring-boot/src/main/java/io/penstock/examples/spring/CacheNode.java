package io.penstock.examples.spring;

import static java.util.Objects.requireNonNull;

import io.micrometer.core.instrument.MeterRegistry;
import io.penstock.block.BlockHash;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockLayout;
import io.penstock.block.CacheSpace;
import io.penstock.block.Plane.ElementType;
import io.penstock.block.PrefixHasher;
import io.penstock.block.SlabArena;
import io.penstock.meter.PenstockMeters;
import io.penstock.stack.HostTier;
import io.penstock.tier.BlockTier;
import io.penstock.tier.ByteBudget;
import io.penstock.tier.Medium;
import io.penstock.wire.MeteredWire;
import io.penstock.wire.client.KvClient;
import io.penstock.wire.client.KvClientOptions;
import io.penstock.wire.client.RemoteTier;
import io.penstock.wire.server.KvServer;
import io.penstock.wire.server.KvServerOptions;
import io.penstock.wire.transport.tcp.TcpClientOptions;
import io.penstock.wire.transport.tcp.TcpListener;
import io.penstock.wire.transport.tcp.TcpServerOptions;
import io.penstock.wire.transport.tcp.TcpTransport;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.springframework.context.SmartLifecycle;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;
import reactor.netty.resources.LoopResources;

/// A node in this process, and a client of it. An application with nodes elsewhere keeps the lines of the client.
///
/// It binds and connects when Spring starts it, after all beans have been made: an event loop that asks for a bean
/// while Spring makes them would wait for it, and Spring would log that. It starts before the web server, and stops
/// after it.
final class CacheNode implements SmartLifecycle {
  private static final Duration SOON = Duration.ofSeconds(10);

  private final CacheSpace space =
      CacheSpace.of("my-model", BlockLayout.attention(8, 16, 2, 64, ElementType.BF16));
  private final LoopResources loops = LoopResources.create("penstock");
  private final Scheduler timers = Schedulers.newSingle("penstock-timers", true);
  private final SlabArena arena = new SlabArena("client", space.layout(), 128, 64);
  private final ByteBudget incoming = new ByteBudget("client", 8 << 20, 64);
  private final ByteBudget budget = new ByteBudget("node", 8 << 20, 64);
  private final MeteredWire wire;
  private final HostTier tier;
  private final int port;
  private volatile KvServer server;
  private volatile BlockTier remote;

  CacheNode(MeterRegistry registry, int port, long blocks) {
    // Every meter of the node, of its wire and of the client. A HostTier is named dram unless it is told otherwise.
    PenstockMeters meters = PenstockMeters.in(registry);
    this.port = port;
    wire = new MeteredWire(meters);
    tier = new HostTier(space, blocks, meters.listener("dram", Medium.HOST));
    meters.bind(tier).bind("node", tier.arena()).bind("client", arena).bind(budget).bind(incoming);
  }

  @Override
  public void start() {
    KvServer bound =
        requireNonNull(KvServer.bind(TcpTransport.server(TcpServerOptions.on("127.0.0.1", port), loops, wire), tier,
            KvServerOptions.builder().streams(new StreamLog(wire)).build(), budget, timers).block(SOON));
    wire.show(bound);
    server = bound;
    remote = requireNonNull(KvClient.connect(TcpTransport.client(TcpClientOptions.to("127.0.0.1", port()), loops),
        KvClientOptions.defaults(), space, arena, incoming).map(client -> new RemoteTier(client, space)).block(SOON));
  }

  @Override
  public boolean isRunning() {
    return remote != null;
  }

  /// Below that of the web server.
  @Override
  public int getPhase() {
    return 0;
  }

  int port() {
    return ((TcpListener) server.listening()).port();
  }

  /// The node as its clients see it.
  BlockTier remote() {
    return remote;
  }

  SlabArena arena() {
    return arena;
  }

  /// Keys of the blocks that a prompt fills.
  List<BlockKey> keys(int[] prompt) {
    PrefixHasher hasher = new PrefixHasher(List.of());
    List<BlockKey> keys = new ArrayList<>();
    BlockHash hash = BlockHash.ROOT;
    int tokens = space.layout().tokens();
    for (int first = 0; first + tokens <= prompt.length; first += tokens) {
      int from = first;
      hash = hasher.next(hash, IntStream.range(0, tokens).map(i -> prompt[from + i]).toArray());
      keys.add(space.key(hash));
    }
    return keys;
  }

  @Override
  public void stop() {
    remote.close().then(server.close()).then(tier.close()).block(SOON);
    remote = null;
    arena.close();
    timers.dispose();
    loops.disposeLater(Duration.ZERO, SOON).block(SOON);
  }
}
