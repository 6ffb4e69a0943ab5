package io.penstock.node.serve;

import io.penstock.TransientKvException;
import io.penstock.disagg.Incarnation;
import io.penstock.disagg.registry.Registration;
import io.penstock.disagg.registry.Registration.Side;
import io.penstock.disagg.request.KvConnector;
import io.penstock.disagg.request.PrefillConnector;
import io.penstock.meter.PenstockMeters;
import io.penstock.meter.RequestMeters;
import io.penstock.node.config.NodeConfig;
import io.penstock.node.config.NodeRank;
import io.penstock.node.config.RankSettings;
import io.penstock.node.text.Reason;
import io.penstock.wire.client.KvClientOptions;
import io.penstock.wire.client.KvPeerOptions;
import io.penstock.wire.protocol.Routes;
import io.penstock.wire.rank.RegistryClient;
import io.penstock.wire.transport.AdvertisedEndpoints;
import io.penstock.wire.transport.ConnectionListener;
import io.penstock.wire.transport.Endpoint;
import io.penstock.wire.transport.NameResolver;
import io.penstock.wire.transport.tcp.TcpClientOptions;
import io.penstock.wire.transport.tcp.TcpTransport;
import java.net.SocketAddress;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.core.scheduler.Scheduler;
import reactor.netty.resources.LoopResources;
import reactor.util.retry.Retry;

/// The work of a node as a rank of a prefill or decode instance: it keeps the blocks of requests for decode ranks, and
/// stays registered. A node that is no rank does nothing.
final class NodeAsRank {
  private static final Logger LOG = LoggerFactory.getLogger(NodeAsRank.class);
  private static final Duration PATIENCE = Duration.ofSeconds(5);

  private final NodeConfig config;
  private final RegistryPass pass;
  private final Optional<NodeRank> rank;
  private final long generation;
  private final NameResolver names;
  private final Scheduler timers;
  private final @Nullable PrefillConnector kept;
  private final Disposable.Swap staying = Disposables.swap();
  private final Sinks.One<Exception> refusal = Sinks.one();
  private final Mono<Void> left = Mono.defer(this::leaveNow).cache();
  private volatile @Nullable RegistryClient registry;

  /// @param generation of this start of the node
  /// @param pass shown to the registry
  /// @param names looks up the name of the registry
  NodeAsRank(NodeConfig config, RegistryPass pass, PenstockMeters meters, Scheduler timers, long generation,
      NameResolver names) {
    this.config = config;
    this.names = names;
    this.pass = pass;
    this.rank = config.rank();
    this.generation = generation;
    this.timers = timers;
    this.kept = rank.filter(one -> one.side() == Side.PREFILL).isPresent() ? kept(meters) : null;
  }

  private PrefillConnector kept(PenstockMeters meters) {
    RequestMeters ends = meters.requests();
    PrefillConnector requests = new PrefillConnector(RankSettings.lifecycle(config), ends, timers);
    ends.show(requests);
    return requests;
  }

  /// Null unless the node is a prefill rank: the engine of a decode rank has the connector.
  @Nullable KvConnector connector() {
    return kept;
  }

  /// Registers the node, and keeps it registered. A registry that cannot be reached is tried again and again, and its
  /// name is looked up each time.
  ///
  /// @param places where the node listens
  /// @return cold; signals why the registry refuses the rank, see [RankRefusal]
  Mono<Void> register(AdvertisedEndpoints places, LoopResources loops) {
    Optional<Endpoint> at = config.get(RankSettings.REGISTRY);
    return rank.isEmpty() || at.isEmpty() ? Mono.empty() : Mono.defer(() -> {
      Endpoint to = at.orElseThrow();
      Incarnation who = rank.orElseThrow().rank().since(generation);
      RankPlace place = new RankPlace(config, places);
      Function<@Nullable SocketAddress, Registration> registration = seen -> new Registration(
          rank.orElseThrow().side(), who, Routes.VERSION, rank.orElseThrow().manifest(), place.towards(seen));
      RegistryClient client = RegistryClient.of(
          TcpTransport.client(to, pass.with(TcpClientOptions.to(to.address())).withNames(
              new RegistryName(names, LOG, System::nanoTime).watched()), loops, ConnectionListener.noop()),
          KvClientOptions.builder().credentials(pass.credentials()).build(), KvPeerOptions.defaults(), timers,
          RandomGenerator.getDefault());
      registry = client;
      RankRefusal refusals = new RankRefusal(to, who.rank());
      AtomicBoolean isLost = new AtomicBoolean();
      return client.register(registration).doOnNext(view -> place.accepted()).timeout(PATIENCE, timers).then()
          .onErrorMap(refusals::of)
          .onErrorResume(NodeAsRank::mayPass, late -> lost(to, isLost, late))
          .doOnSuccess(done -> staying.update(client
              .stay(who, registration, late -> lost(to, isLost, late).subscribe()).doOnNext(view -> place.accepted())
              .retryWhen(Retry.indefinitely().filter(place::isToBeKept))
              .subscribe(view -> registered(to, isLost),
                  failure -> refusal.tryEmitValue(refusals.of(failure)))));
    });
  }

  /// Logs the first failure after a registration.
  private static Mono<Void> lost(Endpoint registry, AtomicBoolean isLost, Throwable why) {
    return Mono.fromRunnable(() -> {
      if (isLost.compareAndSet(false, true)) {
        LOG.warn("registry {} does not answer: the node keeps trying ({})", registry, Reason.of(why));
      }
    });
  }

  private static void registered(Endpoint registry, AtomicBoolean isLost) {
    if (isLost.compareAndSet(true, false)) {
      LOG.warn("registry {} answers again: the rank is registered", registry);
    }
  }

  /// Emits the reason once the registry refuses this rank.
  Mono<Exception> refusal() {
    return refusal.asMono();
  }

  /// Keeps no further request from now on.
  ///
  /// @return cold; completes when the kept requests have ended
  Mono<Void> drained() {
    PrefillConnector requests = kept;
    return requests == null ? Mono.empty() : requests.drained();
  }

  private static boolean mayPass(Throwable error) {
    return error instanceof TransientKvException || error instanceof TimeoutException;
  }

  /// Leaves the registry, for whose answer it waits some seconds, so that no request is sent here any more. Lazy and
  /// idempotent.
  Mono<Void> leave() {
    return left;
  }

  /// Gives up the blocks of all requests, and leaves the registry. Lazy.
  Mono<Void> close() {
    PrefillConnector requests = kept;
    return requests == null ? left : left.and(requests.close());
  }

  private Mono<Void> leaveNow() {
    staying.dispose();
    RegistryClient client = registry;
    return client == null
        ? Mono.empty()
        : client.leave(rank.orElseThrow().rank().since(generation)).timeout(PATIENCE, timers).onErrorComplete()
            .then(client.close());
  }
}
