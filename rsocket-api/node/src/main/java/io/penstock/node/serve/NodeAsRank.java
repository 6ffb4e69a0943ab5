package io.penstock.node.serve;

import io.penstock.TransientKvException;
import io.penstock.disagg.RankId;
import io.penstock.disagg.registry.RankTakenException;
import io.penstock.disagg.registry.Registration;
import io.penstock.disagg.registry.Registration.Side;
import io.penstock.disagg.request.KvConnector;
import io.penstock.disagg.request.PrefillConnector;
import io.penstock.disagg.request.RequestInputs;
import io.penstock.meter.PenstockMeters;
import io.penstock.meter.RequestMeters;
import io.penstock.node.config.NodeConfig;
import io.penstock.node.config.NodeRank;
import io.penstock.node.config.RankSettings;
import io.penstock.node.config.TransportSettings;
import io.penstock.node.text.Reason;
import io.penstock.node.tiers.TierRecording;
import io.penstock.wire.client.KvClientOptions;
import io.penstock.wire.client.KvPeerOptions;
import io.penstock.wire.protocol.Routes;
import io.penstock.wire.protocol.WireFailure.RemotePermanentException;
import io.penstock.wire.rank.RegistryClient;
import io.penstock.wire.transport.AdvertisedEndpoints;
import io.penstock.wire.transport.ConnectionListener;
import io.penstock.wire.transport.Endpoint;
import io.penstock.wire.transport.NameResolver;
import io.penstock.wire.transport.tcp.TcpClientOptions;
import io.penstock.wire.transport.tcp.TcpTransport;
import io.rsocket.transport.ClientTransport;
import java.net.SocketAddress;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.Function;
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
import reactor.util.retry.Retry;

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
  private final NameResolver names;
  private final Scheduler timers;
  private final @Nullable PrefillConnector kept;
  private final Disposable.Swap staying = Disposables.swap();
  private final Sinks.One<Exception> refusal = Sinks.one();
  private final Mono<Void> left = Mono.defer(this::leaveNow).cache();
  private volatile @Nullable RegistryClient registry;

  /// @param pass shown to the registry
  /// @param startMillis wall clock of the start, for a registry that does not know the rank: where it does, the
  ///     generation is the next one, whatever the clock says
  /// @param names looks up the name of the registry
  /// @param recording of the node; null for none
  NodeAsRank(NodeConfig config, RegistryPass pass, PenstockMeters meters, Scheduler timers, long startMillis,
      NameResolver names, @Nullable TierRecording recording) {
    this.config = config;
    this.names = names;
    this.pass = pass;
    this.rank = config.rank();
    this.startMillis = startMillis;
    this.timers = timers;
    this.kept = rank.filter(one -> one.side() == Side.PREFILL).isPresent() ? kept(meters, recording) : null;
  }

  private PrefillConnector kept(PenstockMeters meters, @Nullable TierRecording recording) {
    RequestMeters ends = meters.requests();
    PrefillConnector requests = new PrefillConnector(RankSettings.lifecycle(config), ends, timers,
        recording == null
            ? RequestInputs.direct()
            : recording.requests(rank.map(one -> one.rank().toString()).orElse("")));
    ends.show(requests);
    return requests;
  }

  /// Null unless the node is a prefill rank: the engine of a decode rank has the connector.
  @Nullable KvConnector connector() {
    return kept;
  }

  /// Generation of the node as a rank, 0 until the registry has told it; null unless the node registers.
  @Nullable LongSupplier generation() {
    return rank.isPresent() && !config.get(RankSettings.REGISTRY).isEmpty() ? generation::get : null;
  }

  /// Registers the node in the generation that the registry gives it, and keeps it registered. A registry that cannot
  /// be reached is tried again and again, and its name is looked up each time. The node waits for a rank that another
  /// process has, for twice the time in which the registry forgets a silent process.
  ///
  /// @param places where the node listens
  /// @return cold; signals why the registry refuses the rank, see [RankRefusal]
  Mono<Void> register(AdvertisedEndpoints places, LoopResources loops) {
    String to = RankSettings.registry(config);
    return rank.isEmpty() || to == null ? Mono.empty() : Mono.defer(() -> {
      RankId who = rank.orElseThrow().rank();
      RankPlace place = new RankPlace(config, places);
      BiFunction<Long, @Nullable SocketAddress, Registration> entry =
          (given, seen) -> registration(given, place.towards(seen));
      RegistryClient client = RegistryClient.of(
          config.get(RankSettings.REGISTRY).stream().map(each -> transport(each, loops)).toList(),
          KvClientOptions.builder().credentials(pass.credentials()).build(), KvPeerOptions.defaults(), timers,
          RandomGenerator.getDefault()).withSecret(pass.secret());
      registry = client;
      RankRefusal refusals = new RankRefusal(to, who);
      AtomicBoolean isLost = new AtomicBoolean();
      Consumer<TransientKvException> lost = late -> lost(to, isLost, late);
      return client.whileTaken(claimed(client, who, to, seen -> described(0, place.towards(seen))))
          .flatMap(given -> client.register(seen -> entry.apply(given, seen))
              .doOnNext(view -> place.accepted()).timeout(PATIENCE, timers)
              .thenReturn(Optional.of(given)))
          .onErrorMap(refusals::of)
          .onErrorResume(NodeAsRank::mayPass, late -> Mono.fromSupplier(() -> {
            lost(to, isLost, late);
            return Optional.empty();
          }))
          .doOnNext(claimed -> staying.update(claimed
              .map(given -> client.stay(who.since(given), seen -> entry.apply(given, seen), lost))
              .orElseGet(() -> client.stay(who, startMillis, entry, lost))
              .doOnNext(view -> place.accepted()).retryWhen(Retry.indefinitely().filter(place::isToBeKept))
              .subscribe(view -> registered(to, isLost),
                  failure -> refusal.tryEmitValue(refusals.of(failure)))))
          .then();
    });
  }

  private ClientTransport transport(Endpoint to, LoopResources loops) {
    TcpClientOptions options = TcpClientOptions.to(to.address()).withTuning(TransportSettings.ofClients(config))
        .withNames(new RegistryName(names, LOG, System::nanoTime).watched());
    return TcpTransport.client(to, pass.with(options), loops, ConnectionListener.noop());
  }

  /// Claims the rank. If another process has it, a registration in generation 0, which none has, shows what differs
  /// from the other ranks of the instance.
  private Mono<Long> claimed(RegistryClient client, RankId who, String to,
      Function<@Nullable SocketAddress, Registration> described) {
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
    return new Registration(one.side(), one.rank().since(given), Routes.VERSION, one.manifest(), here,
        RankSettings.engine(config));
  }

  /// Logs the first failure after a registration.
  private static void lost(String registry, AtomicBoolean isLost, Throwable why) {
    if (isLost.compareAndSet(false, true)) {
      LOG.warn("registry {} does not answer: the node keeps trying ({})", registry, Reason.of(why));
    }
  }

  private static void registered(String registry, AtomicBoolean isLost) {
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
        : client.leave(rank.orElseThrow().rank().since(generation.get())).timeout(PATIENCE, timers).onErrorComplete()
            .then(client.close());
  }
}
