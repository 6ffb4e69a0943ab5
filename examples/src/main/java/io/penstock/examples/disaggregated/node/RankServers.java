package io.penstock.examples.disaggregated.node;

import io.penstock.disagg.RankId;
import io.penstock.disagg.plan.Manifest;
import io.penstock.disagg.registry.InstanceView;
import io.penstock.disagg.registry.Registration;
import io.penstock.disagg.registry.Registration.Endpoint;
import io.penstock.disagg.registry.Registration.Side;
import io.penstock.disagg.request.KvConnector;
import io.penstock.tier.BlockTier;
import io.penstock.tier.ByteBudget;
import io.penstock.wire.protocol.Routes;
import io.penstock.wire.rank.RegistryClient;
import io.penstock.wire.server.KvServer;
import io.penstock.wire.server.KvServerOptions;
import io.penstock.wire.server.route.DisaggServices;
import io.penstock.wire.server.space.NodeSpaces;
import io.penstock.wire.transport.tcp.TcpServerOptions;
import io.penstock.wire.transport.tcp.TcpTransport;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.scheduler.Schedulers;

/// A server for each rank of an instance, at a port of its own. The ranks stay in a registry until this is closed.
final class RankServers implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(RankServers.class);
  private static final Duration PATIENCE = Duration.ofMinutes(1);
  private static final long BUDGET_BYTES = 64 << 20;
  private static final int MOST_WAITING = 64;

  private final RegistryClient registry;
  private final List<KvServer> servers = new ArrayList<>();
  private final List<Registration> ranks = new ArrayList<>();
  private final Disposable registered;

  /// What one rank serves.
  ///
  /// @param generation that the registry gave to this start of the rank
  record Served(List<BlockTier> spaces, KvConnector connector, long generation) {}

  /// @param name of the instance
  /// @param served by each rank
  /// @param registry stays the caller's
  RankServers(Side side, String name, Manifest manifest, List<Served> served, RegistryClient registry,
      Network network) {
    this.registry = registry;
    ByteBudget budget = new ByteBudget(name, BUDGET_BYTES, MOST_WAITING);
    for (Served one : served) {
      KvServer server = KvServer
          .bind(TcpTransport.server(TcpServerOptions.on("127.0.0.1", 0), network.loops()),
              NodeSpaces.of(one.spaces()), null, new DisaggServices(null, one.connector()),
              KvServerOptions.builder().node(name + " rank " + servers.size()).generation(one.generation()).build(),
              budget,
              network.timers(), Schedulers.immediate())
          .blockOptional(PATIENCE).orElseThrow();
      servers.add(server);
      ranks.add(new Registration(side, new RankId(name, ranks.size()).since(one.generation()), Routes.VERSION, manifest,
          new Endpoint("127.0.0.1", RegistryNode.port(server))));
    }
    Flux.fromIterable(ranks).concatMap(registry::register).blockLast(PATIENCE);
    this.registered = staying(ranks, registry::stay).subscribe();
  }

  /// Keeps all ranks registered. A refusal of the registry ends only its rank.
  static Flux<InstanceView> staying(List<Registration> ranks, Function<Registration, Flux<InstanceView>> stay) {
    return Flux.fromIterable(ranks).flatMap(rank -> stay.apply(rank).onErrorResume(refusal -> {
      LOG.error("rank {} is not registered any more: {}", rank.who(), refusal.getMessage());
      return Flux.empty();
    }), ranks.size(), 1);
  }

  @Override
  public void close() {
    registered.dispose();
    Flux.fromIterable(ranks).concatMap(rank -> registry.leave(rank.who())).onErrorComplete()
        .blockLast(PATIENCE); // the registry may have ended before
    Flux.fromIterable(servers).flatMap(KvServer::close).blockLast(PATIENCE);
  }
}
