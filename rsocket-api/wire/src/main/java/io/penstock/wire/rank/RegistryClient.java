package io.penstock.wire.rank;

import static java.util.Objects.requireNonNull;

import io.penstock.TransientKvException;
import io.penstock.disagg.Incarnation;
import io.penstock.disagg.RankId;
import io.penstock.disagg.registry.InstanceView;
import io.penstock.disagg.registry.RankTakenException;
import io.penstock.disagg.registry.Registration;
import io.penstock.operator.InTurn;
import io.penstock.operator.LiveTimers;
import io.penstock.wire.client.KvClientOptions;
import io.penstock.wire.client.KvPeerOptions;
import io.penstock.wire.client.Lane;
import io.penstock.wire.client.link.NodeConnection;
import io.penstock.wire.cluster.ClusterMessages;
import io.penstock.wire.cluster.GatewayUse;
import io.penstock.wire.protocol.DisaggMessages;
import io.penstock.wire.protocol.Routes;
import io.penstock.wire.security.ClientTls;
import io.penstock.wire.transport.ConnectionListener;
import io.penstock.wire.transport.Endpoint;
import io.penstock.wire.transport.tcp.TcpClientOptions;
import io.penstock.wire.transport.tcp.TcpTransport;
import io.rsocket.transport.ClientTransport;
import java.net.SocketAddress;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.netty.resources.LoopResources;
import reactor.util.retry.Retry;

/// A registry of ranks in another process, over connections that are opened again when they are lost. Its ranks belong
/// to the user of the connection, or, where the registry has no users, to the secret of this client. Safe from any
/// thread.
///
/// Several nodes of a cluster may keep one registry: then the client asks the one that answered last, and, if that one
/// is away or silent for 0.7 s, the next one.
public final class RegistryClient {
  private static final Duration FIRST_PAUSE = Duration.ofSeconds(1);
  private static final Duration LONGEST_PAUSE = Duration.ofSeconds(30);
  private static final double LEAST_JITTER = 0.5;
  private static final int MOST_DOUBLINGS = 5;

  private static final Duration MOST_HASTE = Duration.ofMillis(200);

  private final RegistryLanes lanes;
  private final Scheduler timers;
  private final RandomGenerator random;
  private final RankSecret secret;

  private RegistryClient(RegistryLanes lanes, RankSecret secret, Scheduler timers, RandomGenerator random) {
    this.lanes = lanes;
    this.secret = requireNonNull(secret, "secret");
    this.timers = requireNonNull(timers, "timers");
    this.random = requireNonNull(random, "random");
  }

  /// A client with a secret of its own.
  ///
  /// @param transport to the node that keeps the registry
  /// @param timers for heartbeats, pauses and idle connections; never used for work
  /// @param random of the jitter
  public static RegistryClient of(ClientTransport transport, KvClientOptions options, KvPeerOptions connections,
      Scheduler timers, RandomGenerator random) {
    return of(List.of(transport), options, connections, timers, random);
  }

  /// A client of a registry that several nodes keep, with a secret of its own.
  ///
  /// @param transports to the nodes, the preferred one first; at least one
  /// @param timers for heartbeats, pauses and idle connections; never used for work
  /// @param random of the jitter
  public static RegistryClient of(List<ClientTransport> transports, KvClientOptions options, KvPeerOptions connections,
      Scheduler timers, RandomGenerator random) {
    return new RegistryClient(new RegistryLanes(transports, options, connections, timers, random),
        RankSecret.random(new SecureRandom()), timers, random);
  }

  /// A client over TCP, with a secret of its own.
  ///
  /// @param tcp where the node is that keeps the registry
  /// @param loops stay the caller's to dispose
  public static RegistryClient of(TcpClientOptions tcp, LoopResources loops, KvClientOptions options, Scheduler timers,
      RandomGenerator random) {
    return of(TcpTransport.client(tcp, loops), options, KvPeerOptions.defaults(), timers, random);
  }

  /// A client of a registry that several nodes keep, over the transports that their addresses name, with a secret of
  /// its own.
  ///
  /// @param nodes the preferred one first; at least one
  /// @param tls null for none
  /// @param loops stay the caller's to dispose
  public static RegistryClient of(List<Endpoint> nodes, @Nullable ClientTls tls, LoopResources loops,
      KvClientOptions options, Scheduler timers, RandomGenerator random) {
    return of(nodes.stream().map(node -> {
      TcpClientOptions tcp = TcpClientOptions.to(node.address());
      return TcpTransport.client(node, tls == null ? tcp : tcp.withTls(tls), loops, ConnectionListener.noop());
    }).toList(), options, KvPeerOptions.defaults(), timers, random);
  }

  /// A client over the connections of this one whose ranks belong to another secret.
  public RegistryClient withSecret(RankSecret other) {
    return new RegistryClient(lanes, other, timers, random);
  }

  static Lane<NodeConnection> lane(ClientTransport transport, String peer, KvClientOptions options,
      KvPeerOptions connections, Scheduler timers, RandomGenerator random) {
    return RegistryLanes.lane(transport, peer, options, connections, timers, random, () -> {});
  }

  private <T> Mono<T> with(Function<NodeConnection, Mono<T>> work) {
    return lanes.with(work);
  }

  /// Claims a rank, in the generation behind the last one that the registry knows. The rank registers next.
  ///
  /// @param least the generation is at least that
  /// @return cold; signals [RankTakenException] if the rank has another owner, who lives
  public Mono<Long> claim(RankId rank, long least) {
    return with(node -> node.ask(Routes.CLAIM,
        new DisaggMessages.ClaimRequest(rank.instance(), rank.rank(), least, secret.bytes()),
        DisaggMessages.ClaimReply.class)).map(DisaggMessages.ClaimReply::generation);
  }

  /// Registers a rank, once.
  ///
  /// @return cold; signals why the registry refused the rank, or could not be reached
  public Mono<InstanceView> register(Registration registration) {
    return register(place -> registration);
  }

  /// Registers a rank, once.
  ///
  /// @param registration that the rank gives, for the place of the registry that the connection shows; the place is
  ///     null for a connection that is none of the internet
  public Mono<InstanceView> register(Function<@Nullable SocketAddress, Registration> registration) {
    return registered(registration).map(reply -> reply.instance().view());
  }

  private Mono<DisaggMessages.RegisterReply> registered(Function<@Nullable SocketAddress, Registration> registration) {
    return with(node -> node.ask(Routes.REGISTER,
        DisaggMessages.RegisterRequest.of(registration.apply(node.transport().remote()), secret.bytes()),
        DisaggMessages.RegisterReply.class));
  }

  /// Keeps a rank registered, until this is cancelled: registers it, sends heartbeats as often as the registry wants
  /// them, at once after a standstill of this process, and registers it again when the registry has forgotten it, or at
  /// the next of several registries when one is away: that one may not have told others of the last registration. A
  /// transient failure is followed by another attempt after a pause that doubles from 1 s to 30 s, with jitter; a rank
  /// of another owner is asked for until that owner has been heard for twice the silence after which the rank is free.
  ///
  /// @return cold; emits the instance at each registration; signals the reason if the registry refuses the rank
  public Flux<InstanceView> stay(Registration registration) {
    return stay(registration.who(), place -> registration, lost -> {});
  }

  /// Keeps a rank registered, as [#stay(Registration)] does, with what it says at each registration: a registry that
  /// moved may reach it elsewhere.
  ///
  /// @param registration for the place of the registry that the connection shows, see [#register(Function)]
  /// @param lost receives each transient failure, which another attempt follows
  public Flux<InstanceView> stay(Incarnation who, Function<@Nullable SocketAddress, Registration> registration,
      Consumer<TransientKvException> lost) {
    return Flux.defer(() -> {
      Attempts attempts = new Attempts();
      return Flux.defer(() -> registered(registration).doOnNext(reply -> attempts.succeeded())
          .flatMapMany(reply -> beats(who, reply)))
          .doOnError(TransientKvException.class, lost)
          .onErrorResume(TransientKvException.class, attempts::pause)
          .repeat();
    });
  }

  /// Claims a rank and keeps it registered, until this is cancelled; tries again as [#stay(Registration)] does.
  ///
  /// @param registration of the rank in the generation that was claimed, for the place of the registry that the
  ///     connection shows, see [#register(Function)]
  /// @param lost receives each transient failure, which another attempt follows
  public Flux<InstanceView> stay(RankId rank, long least,
      BiFunction<Long, @Nullable SocketAddress, Registration> registration, Consumer<TransientKvException> lost) {
    return Flux.defer(() -> {
      Attempts attempts = new Attempts();
      return Flux.defer(() -> claim(rank, least)).doOnError(TransientKvException.class, lost)
          .onErrorResume(TransientKvException.class, attempts::pause).repeat().take(1)
          .concatMap(generation -> stay(rank.since(generation), place -> registration.apply(generation, place), lost),
              1);
    });
  }

  /// Tries `attempt` again each second while the rank has another owner: for twice the silence after which it is free.
  ///
  /// @return cold; signals the [RankTakenException] if the owner lives on, and other failures at once
  public <T> Mono<T> whileTaken(Mono<T> attempt) {
    return Mono.defer(() -> {
      Attempts attempts = new Attempts();
      return attempt.retryWhen(Retry.withThrowable(failures -> failures.concatMap(
          failure -> failure instanceof RankTakenException taken
              ? attempts.pause(taken).thenReturn(taken)
              : Mono.error(failure),
          1)));
    });
  }

  /// Failures since the last success, and the pauses behind them.
  private final class Attempts {
    private static final long NOT_TAKEN = Long.MIN_VALUE;
    /// Silences for which a rank of another owner is asked for.
    private static final int PATIENCE = 2;

    private final AtomicInteger failures = new AtomicInteger();
    private final AtomicLong takenSince = new AtomicLong(NOT_TAKEN);

    void succeeded() {
      failures.set(0);
      takenSince.set(NOT_TAKEN);
    }

    <T> Mono<T> pause(TransientKvException failure) {
      if (!(failure instanceof RankTakenException taken)) {
        return RegistryClient.this.pause(failures.getAndIncrement());
      }
      long now = timers.now(TimeUnit.MILLISECONDS);
      long since = takenSince.updateAndGet(before -> before == NOT_TAKEN ? now : before);
      boolean lives = (now - since) / PATIENCE > taken.silence().toMillis();
      return lives ? Mono.error(taken) : RegistryClient.this.pause(0);
    }
  }

  private Flux<InstanceView> beats(Incarnation who, DisaggMessages.RegisterReply reply) {
    Flux<InstanceView> living = Flux.interval(reply.heartbeat(), LiveTimers.promises(timers)).onBackpressureDrop()
        .concatMap(tick -> beat(who, false), 1).takeWhile(known -> known).<InstanceView>flatMap(known -> Flux.empty())
        .takeUntilOther(lanes.losses().next().flatMap(lost -> Mono.delay(jittered(MOST_HASTE), timers)));
    return InTurn.of(Flux.just(reply.instance().view()), living);
  }

  private <T> Mono<T> pause(int failures) {
    Duration doubled = FIRST_PAUSE.multipliedBy(1L << Math.min(failures, MOST_DOUBLINGS));
    return Mono.delay(jittered(doubled.compareTo(LONGEST_PAUSE) < 0 ? doubled : LONGEST_PAUSE), timers)
        .then(Mono.empty());
  }

  private Duration jittered(Duration most) {
    synchronized (random) {
      return Duration.ofNanos((long) (most.toNanos() * (LEAST_JITTER + (1 - LEAST_JITTER) * random.nextDouble())));
    }
  }

  /// Says what the tenants of a gateway have used.
  ///
  /// @return what other gateways said last
  public Mono<List<GatewayUse>> usage(GatewayUse own) {
    return with(node -> node.ask(Routes.USAGE, ClusterMessages.UsageRequest.of(own),
        ClusterMessages.UsageReply.class)).map(ClusterMessages.UsageReply::uses);
  }

  /// All instances that the registry knows.
  public Mono<List<InstanceView>> instances() {
    return instances(null);
  }

  private Mono<List<InstanceView>> instances(@Nullable String name) {
    return page(name, null).expand(reply -> {
      DisaggMessages.Receiver next = reply.next();
      return next == null ? Mono.empty() : page(name, next);
    }).concatMapIterable(DisaggMessages.InstancesReply::instances).map(DisaggMessages.Instance::view).collectList()
        .map(RegistryClient::joined);
  }

  private Mono<DisaggMessages.InstancesReply> page(@Nullable String name, DisaggMessages.@Nullable Receiver after) {
    return with(node -> node.ask(Routes.INSTANCES, new DisaggMessages.InstancesRequest(name, after),
        DisaggMessages.InstancesReply.class));
  }

  /// One view of each instance, whose ranks may have come in several replies.
  private static List<InstanceView> joined(List<InstanceView> parts) {
    Map<String, InstanceView> all = new LinkedHashMap<>();
    parts.forEach(part -> all.merge(part.instance(), part, InstanceView::and));
    return List.copyOf(all.values());
  }

  /// Waits until all ranks of an instance are there. Asks again after a pause with jitter.
  ///
  /// @param bootstrap how long that may take
  /// @return cold; signals [java.util.concurrent.TimeoutException] if it takes longer, and permanent failures
  public Mono<InstanceView> ready(String name, Duration bootstrap) {
    return Flux.defer(() -> instances(name).flatMapIterable(found -> found).filter(InstanceView::isReady))
        .onErrorResume(TransientKvException.class, lost -> Mono.empty())
        .repeatWhen(rounds -> rounds.concatMap(round -> Mono.delay(jittered(FIRST_PAUSE), timers), 1)).next()
        .timeout(bootstrap, timers);
  }

  /// The data-parallel replica that has a request; empty if it is not known.
  public Mono<Integer> replica(String request) {
    return replica(new DisaggMessages.ReplicaRequest(request, null));
  }

  /// Says which data-parallel replica has a request.
  public Mono<Integer> assign(String request, int replica) {
    return replica(new DisaggMessages.ReplicaRequest(request, replica));
  }

  private Mono<Integer> replica(DisaggMessages.ReplicaRequest request) {
    return with(node -> node.ask(Routes.REPLICA, request, DisaggMessages.ReplicaReply.class))
        .flatMap(reply -> Mono.justOrEmpty(reply.replica()));
  }

  /// Ends the connections; work that runs fails. Lazy and idempotent.
  public Mono<Void> close() {
    return lanes.close();
  }

  /// Reports to the registry that a rank ends.
  ///
  /// @return cold; true if it was registered; signals [RankTakenException] if it has another owner
  public Mono<Boolean> leave(Incarnation who) {
    return beat(who, true);
  }

  private Mono<Boolean> beat(Incarnation who, boolean leaving) {
    return with(node -> node.ask(Routes.HEARTBEAT,
        new DisaggMessages.HeartbeatRequest(DisaggMessages.Who.of(who), leaving ? true : null, secret.bytes()),
        DisaggMessages.HeartbeatReply.class)).map(DisaggMessages.HeartbeatReply::known);
  }
}
