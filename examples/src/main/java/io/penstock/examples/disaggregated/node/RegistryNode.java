package io.penstock.examples.disaggregated.node;

import io.penstock.disagg.RankId;
import io.penstock.disagg.registry.RankRegistry;
import io.penstock.disagg.registry.RegistryOptions;
import io.penstock.system.LiveClock;
import io.penstock.tier.ByteBudget;
import io.penstock.wire.client.KvClientOptions;
import io.penstock.wire.client.KvPeerOptions;
import io.penstock.wire.rank.RegistryClient;
import io.penstock.wire.server.KvServer;
import io.penstock.wire.server.KvServerOptions;
import io.penstock.wire.server.route.DisaggServices;
import io.penstock.wire.server.space.NodeSpaces;
import io.penstock.wire.transport.tcp.TcpClientOptions;
import io.penstock.wire.transport.tcp.TcpListener;
import io.penstock.wire.transport.tcp.TcpServerOptions;
import io.penstock.wire.transport.tcp.TcpTransport;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.time.Instant;
import java.util.Random;
import reactor.core.scheduler.Schedulers;

/// A node that keeps no blocks: it knows where the ranks of prefills listen.
final class RegistryNode implements AutoCloseable {
  private static final Duration PATIENCE = Duration.ofMinutes(1);
  private static final long BUDGET_BYTES = 8 << 20;

  private final KvServer server;

  RegistryNode(Network network) {
    RankRegistry registry = new RankRegistry(RegistryOptions.defaults(), LiveClock.process()::nanos, gone -> {});
    this.server = KvServer
        .bind(TcpTransport.server(TcpServerOptions.on("127.0.0.1", 0), network.loops()), NodeSpaces.none(), null,
            new DisaggServices(registry, null), KvServerOptions.defaults().withNode("registry"),
            new ByteBudget("registry", BUDGET_BYTES, 64), network.timers(), Schedulers.immediate())
        .blockOptional(PATIENCE).orElseThrow();
  }

  int port() {
    return port(server);
  }

  static int port(KvServer server) {
    return ((InetSocketAddress) ((TcpListener) server.listening()).address()).getPort();
  }

  /// A way to the registry that listens on `port`.
  static RegistryClient client(int port, Network network) {
    return RegistryClient.of(TcpTransport.client(TcpClientOptions.to("127.0.0.1", port), network.loops()),
        KvClientOptions.defaults(), KvPeerOptions.defaults(), network.timers(), new Random());
  }

  /// The generation of this start of a rank. The clock counts only at a registry that does not know the rank.
  static long claim(RegistryClient registry, RankId rank) {
    return registry.whileTaken(registry.claim(rank, Instant.now().toEpochMilli())).blockOptional(PATIENCE)
        .orElseThrow();
  }

  @Override
  public void close() {
    server.close().block(PATIENCE);
  }
}
