package io.penstock.examples.disaggregated.node;

import io.penstock.block.CacheSpace;
import io.penstock.disagg.Incarnation;
import io.penstock.disagg.registry.InstanceView;
import io.penstock.disagg.registry.InstanceView.Registered;
import io.penstock.disagg.registry.Registration.Endpoint;
import io.penstock.disagg.request.PeerSignals;
import io.penstock.tier.ByteBudget;
import io.penstock.tier.spi.ViewSource;
import io.penstock.wire.client.KvClientOptions;
import io.penstock.wire.client.KvPeerOptions;
import io.penstock.wire.rank.RankViews;
import io.penstock.wire.rank.RegistryClient;
import io.penstock.wire.rank.WireSignals;
import io.penstock.wire.transport.tcp.TcpClientOptions;
import io.penstock.wire.transport.tcp.TcpTransport;
import io.rsocket.transport.ClientTransport;
import java.time.Duration;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import reactor.core.publisher.Mono;

/// The ranks of instances on the other side, where a registry says that they are: their blocks, and signals to them.
final class RemoteRanks {
  private static final Duration PATIENCE = Duration.ofMinutes(1);
  private static final long BUDGET_BYTES = 64 << 20;
  private static final int MOST_WAITING = 1024;

  private final RegistryClient registry;
  private final Network network;
  private final Map<Incarnation, Endpoint> endpoints = new ConcurrentHashMap<>();
  private final WireSignals signals;
  private final RankViews views;

  /// @param registry stays the caller's
  /// @param gone receives a rank whose connection was lost
  RemoteRanks(String name, RegistryClient registry, Network network, Consumer<Incarnation> gone) {
    this.registry = registry;
    this.network = network;
    this.signals = new WireSignals(this::place, KvClientOptions.defaults(), KvPeerOptions.defaults(), network.timers(),
        new Random());
    this.views = new RankViews(this::place, KvClientOptions.defaults(), KvPeerOptions.defaults(),
        new ByteBudget(name, BUDGET_BYTES, MOST_WAITING), lost -> {
          gone.accept(lost);
          signals.forget(lost).onErrorComplete().subscribe();
        }, network.timers(), new Random());
  }

  PeerSignals signals() {
    return signals;
  }

  private Mono<ClientTransport> place(Incarnation rank) {
    return Mono.justOrEmpty(endpoints.get(rank)).map(this::transport);
  }

  private ClientTransport transport(Endpoint endpoint) {
    return TcpTransport.client(TcpClientOptions.to(endpoint.host(), endpoint.port()), network.loops());
  }

  /// The ranks of an instance.
  ///
  /// @param own a space of this side, into whose blocks views of theirs land
  /// @param aux the space of aux data
  /// @param seen watches what comes from their caches
  DecodeSide.Sources of(String instance, CacheSpace own, CacheSpace aux, UnaryOperator<ViewSource> seen) {
    InstanceView view = registry.ready(instance, PATIENCE).blockOptional(PATIENCE).orElseThrow();
    view.ranks().forEach(rank -> endpoints.put(rank.who(), rank.endpoint()));
    return new DecodeSide.Sources() {
      @Override
      public Incarnation rank(int number) {
        return view.rank(number).map(Registered::who).orElseThrow();
      }

      @Override
      public Mono<ViewSource> cache(int number) {
        return views.of(rank(number), own).map(seen::apply);
      }

      @Override
      public Mono<ViewSource> aux() {
        return views.of(rank(0), aux).cast(ViewSource.class);
      }
    };
  }

  /// Ends all connections; the registry stays.
  Mono<Void> close() {
    return views.close().then(signals.close());
  }
}
