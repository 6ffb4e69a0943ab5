package io.penstock.node.serve;

import io.penstock.TransientKvException;
import io.penstock.disagg.RankId;
import io.penstock.disagg.registry.RankTakenException;
import io.penstock.disagg.registry.Registration;
import io.penstock.disagg.registry.Registration.Side;
import io.penstock.disagg.request.KvConnector;
import io.penstock.disagg.request.PrefillConnector;
import io.penstock.meter.PenstockMeters;
import io.penstock.meter.RequestMeters;
import io.penstock.node.config.NodeConfig;
import io.penstock.node.config.NodeRank;
import io.penstock.node.config.NodeSettings;
import io.penstock.node.config.RankSettings;
import io.penstock.wire.client.KvClientOptions;
import io.penstock.wire.client.KvPeerOptions;
import io.penstock.wire.protocol.Routes;
import io.penstock.wire.protocol.WireFailure.RemotePermanentException;
import io.penstock.wire.rank.RegistryClient;
import io.penstock.wire.transport.AdvertisedEndpoints;
import io.penstock.wire.transport.Endpoint;
import io.penstock.wire.transport.TransportKind;
import io.penstock.wire.transport.tcp.TcpClientOptions;
import io.penstock.wire.transport.tcp.TcpTransport;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
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

/// The work of a node as a rank of a prefill or decode instance: it keeps the blocks of requests for decode ranks, and
/// stays registered. A node that is no rank does nothing.
final class NodeAsRank {
  private static final Logger LOG = LoggerFactory.getLogger(NodeAsRank.class);
  private static final Duration PATIENCE = Duration.ofSeconds(5);

  private final NodeConfig config;
  private final RegistryPass pass;
  private final Optional<NodeRank> rank;
  /// Generation that the registry has given to this start of the rank; 0 before.
  private final AtomicLong generation = new AtomicLong();
  private final long startMillis;
  private final Scheduler timers;
  private final @Nullable PrefillConnector kept;
  private final Disposable.Swap staying = Disposables.swap();
  private final Sinks.One<Exception> refusal = Sinks.one();
  private final Mono<Void> left = Mono.defer(this::leaveNow).cache();
  private volatile @Nullable RegistryClient registry;

  /// @param pass shown to the registry
  /// @param startMillis wall clock of the start, for a registry that does not know the rank: where it does, the
  ///     generation is the next one, whatever the clock says
  NodeAsRank(NodeConfig config, RegistryPass pass, PenstockMeters meters, Scheduler timers, long startMillis) {
    this.config = config;
    this.pass = pass;
    this.rank = config.rank();
    this.startMillis = startMillis;
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

  /// Generation of the node as a rank, 0 until the registry has told it; null unless the node registers.
  @Nullable LongSupplier generation() {
    return rank.isPresent() && config.get(RankSettings.REGISTRY).isPresent() ? generation::get : null;
  }

  /// Registers the node in the generation that the registry gives it, and keeps it registered. A registry that cannot
  /// be reached is tried again and again. The node waits for a rank that another process has, for twice the time in
  /// which the registry forgets a silent process.
  ///
  /// @param places where the node listens
  /// @return cold; signals why the registry refuses the rank, see [RankRefusal]
  Mono<Void> register(AdvertisedEndpoints places, LoopResources loops) {
    Optional<InetSocketAddress> at = config.get(RankSettings.REGISTRY);
    return rank.isEmpty() || at.isEmpty() ? Mono.empty() : Mono.defer(() -> {
      InetSocketAddress to = new InetSocketAddress(at.orElseThrow().getHostString(), at.orElseThrow().getPort());
      Registration.Endpoint here = endpoint(places, to);
      RegistryClient client = RegistryClient.of(TcpTransport.client(pass.with(TcpClientOptions.to(to)), loops),
          KvClientOptions.builder().credentials(pass.credentials()).build(), KvPeerOptions.defaults(), timers,
          RandomGenerator.getDefault()).withSecret(pass.secret());
      registry = client;
      RankId who = rank.orElseThrow().rank();
      RankRefusal refusals = new RankRefusal(to, who);
      return client.whileTaken(claimed(client, who, to, described(0, here))).map(given -> registration(given, here))
          .flatMap(entry -> client.register(entry).timeout(PATIENCE, timers).thenReturn(Optional.of(entry)))
          .onErrorMap(refusals::of)
          .onErrorResume(NodeAsRank::mayPass, late -> warn(to, late).thenReturn(Optional.empty()))
          .doOnNext(entry -> staying.update(entry.map(client::stay)
              .orElseGet(() -> client.stay(who, startMillis, given -> registration(given, here)))
              .subscribe(view -> {}, failure -> refusal.tryEmitValue(refusals.of(failure)))))
          .then();
    });
  }

  /// Claims the rank. If another process has it, a registration in generation 0, which none has, shows what differs
  /// from the other ranks of the instance.
  private Mono<Long> claimed(RegistryClient client, RankId who, InetSocketAddress to, Registration described) {
    AtomicBoolean isReported = new AtomicBoolean();
    return client.claim(who, startMillis).onErrorResume(RankTakenException.class, taken -> client.register(described)
        .onErrorMap(NodeAsRank::isOfGeneration, refused -> taken).then(Mono.error(taken)))
        .timeout(PATIENCE, timers).doOnError(RankTakenException.class, taken -> {
          if (!isReported.getAndSet(true)) {
            LOG.warn("rank {} belongs to another process at registry {}: the node waits until that one is gone", who,
                to);
          }
        });
  }

  private static boolean isOfGeneration(Throwable refusal) {
    return refusal instanceof RemotePermanentException remote && "generation".equals(remote.field());
  }

  private Registration registration(long given, Registration.Endpoint here) {
    generation.set(given);
    return described(given, here);
  }

  private Registration described(long given, Registration.Endpoint here) {
    NodeRank one = rank.orElseThrow();
    return new Registration(one.side(), one.rank().since(given), Routes.VERSION, one.manifest(), here);
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

  private static Mono<Void> warn(InetSocketAddress registry, Throwable late) {
    LOG.warn("registry {} does not answer: the node keeps trying ({})", registry, late.getMessage());
    return Mono.empty();
  }

  /// Endpoint for ranks behind the registry.
  private Registration.Endpoint endpoint(AdvertisedEndpoints places, InetSocketAddress registry) {
    InetSocketAddress address = places.shown(registry).stream()
        .filter(place -> place.transport() == TransportKind.TCP).map(Endpoint::address)
        .filter(InetSocketAddress.class::isInstance).map(InetSocketAddress.class::cast).findFirst()
        .orElseThrow(() -> new IllegalArgumentException(
            "listen.host must be one that ranks behind the registry reach by TCP (was %s)".formatted(
                config.get(NodeSettings.LISTEN_HOST))));
    return new Registration.Endpoint(address.getHostString(), address.getPort());
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
        : client.leave(rank.orElseThrow().rank().since(generation.get())).timeout(PATIENCE, timers).onErrorComplete()
            .then(client.close());
  }
}
