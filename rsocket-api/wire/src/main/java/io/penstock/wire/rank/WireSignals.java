package io.penstock.wire.rank;

import static java.util.Objects.requireNonNull;

import io.penstock.disagg.Incarnation;
import io.penstock.disagg.request.PeerSignals;
import io.penstock.disagg.request.RequestAnswer;
import io.penstock.disagg.request.Signal;
import io.penstock.wire.client.KvClientOptions;
import io.penstock.wire.client.KvPeerOptions;
import io.penstock.wire.client.Lane;
import io.penstock.wire.client.link.NodeConnection;
import io.penstock.wire.protocol.DisaggMessages;
import io.penstock.wire.protocol.Routes;
import io.rsocket.transport.ClientTransport;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.random.RandomGenerator;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;

/// Signals to prefill ranks over RSocket, each to the host of its rank. A rank has one connection, opened when a signal
/// wants it. Safe from any thread.
public final class WireSignals implements PeerSignals {
  private final Function<Incarnation, Mono<ClientTransport>> places;
  private final KvClientOptions options;
  private final KvPeerOptions connections;
  private final Scheduler timers;
  private final RandomGenerator random;
  private final Map<Incarnation, Lane<NodeConnection>> lanes = new ConcurrentHashMap<>();

  /// @param places where a rank listens, as a registry knows it; empty if the registry does not know it at the moment,
  ///     a permanent failure if it is gone for good
  /// @param timers for back-off and idle connections; never used for work
  /// @param random of the jitter
  public WireSignals(Function<Incarnation, Mono<ClientTransport>> places, KvClientOptions options,
      KvPeerOptions connections, Scheduler timers, RandomGenerator random) {
    this.places = requireNonNull(places, "places");
    this.options = requireNonNull(options, "options");
    this.connections = requireNonNull(connections, "connections");
    this.timers = requireNonNull(timers, "timers");
    this.random = requireNonNull(random, "random");
  }

  @Override
  public Mono<RequestAnswer> send(Incarnation to, Signal signal) {
    return lane(to).flatMap(lane -> lane.with(node -> node.ask(Routes.SIGNAL,
        DisaggMessages.SignalRequest.of(signal, to.generation()), DisaggMessages.SignalReply.class)).next())
        .map(DisaggMessages.SignalReply::answer);
  }

  private Mono<Lane<NodeConnection>> lane(Incarnation to) {
    Lane<NodeConnection> known = lanes.get(to);
    return known != null
        ? Mono.just(known)
        : places.apply(to)
            .map(transport -> lane(to, transport))
            .switchIfEmpty(Mono.error(() -> RankViews.isUnknown(to)));
  }

  /// Forgets earlier starts of the rank: their processes are gone.
  private Lane<NodeConnection> lane(Incarnation to, ClientTransport transport) {
    lanes.keySet().stream()
        .filter(known -> known.rank().equals(to.rank()) && known.generation() < to.generation())
        .forEach(gone -> forget(gone).onErrorComplete().subscribe());
    return lanes.computeIfAbsent(to,
        rank -> RegistryClient.lane(transport, "rank " + rank, options, connections, timers, random));
  }

  /// The ranks that have a connection, or had one and may have it again.
  Set<Incarnation> ranks() {
    return Set.copyOf(lanes.keySet());
  }

  /// Forgets a rank that is gone, and ends its connection.
  public Mono<Void> forget(Incarnation rank) {
    return Mono.defer(() -> {
      Lane<NodeConnection> lane = lanes.remove(rank);
      return lane == null ? Mono.empty() : lane.close();
    });
  }

  /// Ends all connections; signals that wait fail. Lazy and idempotent.
  public Mono<Void> close() {
    return Flux.fromIterable(lanes.keySet()).flatMap(this::forget, Integer.MAX_VALUE, 1).then();
  }
}
