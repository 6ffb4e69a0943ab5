package io.penstock.node.serve;

import io.micrometer.core.instrument.binder.jvm.JvmGcMetrics;
import io.micrometer.core.instrument.binder.jvm.JvmMemoryMetrics;
import io.micrometer.core.instrument.binder.netty4.NettyAllocatorMetrics;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.ByteBufAllocatorMetricProvider;
import io.penstock.block.CacheSpace;
import io.penstock.device.sidecar.SideCarServerOptions;
import io.penstock.device.sidecar.server.SideCarServer;
import io.penstock.disagg.registry.RankRegistry;
import io.penstock.disagg.registry.RegistryOptions;
import io.penstock.meter.PenstockMeters;
import io.penstock.node.admin.AdminServer;
import io.penstock.node.admin.NodeState;
import io.penstock.node.admin.ResidentMemory;
import io.penstock.node.admin.TransportState;
import io.penstock.node.config.AdminSettings;
import io.penstock.node.config.KvEventSettings;
import io.penstock.node.config.NodeConfig;
import io.penstock.node.config.NodeSettings;
import io.penstock.node.config.TransportSettings;
import io.penstock.node.device.MeteredCopies;
import io.penstock.node.device.MeteredSideCar;
import io.penstock.node.door.DoorTerms;
import io.penstock.node.door.NodeDoors;
import io.penstock.node.kvevents.KvEventsMeters;
import io.penstock.node.kvevents.KvEventsPublisher;
import io.penstock.node.setting.Capacity;
import io.penstock.node.setting.PortChoice;
import io.penstock.node.text.Reason;
import io.penstock.node.tiers.Endings;
import io.penstock.node.tiers.NodeMemory;
import io.penstock.node.tiers.NodeTiers;
import io.penstock.node.tiers.SpaceTiers;
import io.penstock.node.tiers.TierPlan;
import io.penstock.node.tiers.TierRecording;
import io.penstock.node.whatif.WhatIfPages;
import io.penstock.operator.LiveTimers;
import io.penstock.stack.shape.StackOptions.Sampling;
import io.penstock.system.LiveClock;
import io.penstock.tier.BlockTier;
import io.penstock.tier.ByteBudget;
import io.penstock.tier.Medium;
import io.penstock.tier.TierInfo;
import io.penstock.tier.TierStat;
import io.penstock.wire.MeteredWire;
import io.penstock.wire.credit.Rates;
import io.penstock.wire.region.RegionFolder;
import io.penstock.wire.server.KvServer;
import io.penstock.wire.server.KvServerOptions;
import io.penstock.wire.server.route.DisaggServices;
import io.penstock.wire.transport.Endpoint;
import io.penstock.wire.transport.NameResolver;
import java.io.IOException;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;
import reactor.netty.ChannelBindException;
import reactor.netty.DisposableServer;
import reactor.netty.resources.LoopResources;

/// A node in this process: a stack of tiers, served over its transports, with admin endpoints.
///
/// It ends everything that it starts: threads, memory, sockets.
public final class Node {
  private static final Duration QUIET = Duration.ZERO;
  /// Bits that a random number does without, to be positive and exact as a number of JSON.
  private static final int SIGN_AND_JSON = 11;
  private static final Logger LOG = LoggerFactory.getLogger(Node.class);
  private static final Duration GOODBYE = Duration.ofSeconds(5);
  private static final Duration COUNT_PATIENCE = Duration.ofSeconds(1);

  private final NodeConfig config;
  private final NodeSecurity security;
  private final AtomicReference<NodeState> state = new AtomicReference<>(NodeState.STARTING);
  private final PrometheusMeterRegistry registry;
  private final PenstockMeters meters;
  private final MeteredWire wireMeters;
  private final JvmGcMetrics collections = new JvmGcMetrics();
  /// Interval of the checks for expired leases, pins and unfinished puts.
  private static final Duration EXPIRY = Duration.ofSeconds(1);

  private final Scheduler timers = LiveTimers.of(Schedulers.newSingle("penstock-timers", true));
  /// Runs the steps of the registry: after a standstill they come before the next judgment.
  private final Executor signsOfLife = timers::schedule;
  /// Decides on requests of many keys, so that they keep no event loop from others.
  private final Scheduler decisions = Schedulers.newSingle("penstock-decisions", true);
  /// Compares passwords, each for a good part of a second.
  private final Scheduler passwords = Schedulers.newSingle("penstock-passwords", true);
  /// Copy between blocks and the shared memory of clients.
  private final ExecutorService regionThreads = Executors.newFixedThreadPool(
      Math.max(1, Runtime.getRuntime().availableProcessors() / 2),
      Thread.ofPlatform().daemon().name("penstock-regions-", 1).factory());
  private final Optional<RegionFolder> regions;
  private final NodeSockets sockets;
  private final LoopResources adminLoops = LoopResources.create("penstock-admin", 1, true);
  private final SpaceTiers tiers;
  private final @Nullable TierRecording recording;
  private final ByteBudget budget;
  private final Mono<Void> closed = Mono.defer(this::closeNow).cache();
  private final DrainTime drainTime;
  /// Number of this start of the node: another start has another one.
  private final long generation = new SecureRandom().nextLong() >>> SIGN_AND_JSON;
  private final NodeAsRank rank;
  private final NodeInCluster cluster;
  private final NodeDoors doors;
  private @Nullable KvServer server;
  private @Nullable RankRegistry ranks;
  private @Nullable DisposableServer admin;
  private @Nullable SideCarServer sideCar;
  private final List<KvStream> kvEvents = new ArrayList<>();

  /// The KV events of one space.
  private record KvStream(String space, KvEventsPublisher publisher) {}

  private Node(NodeConfig config, NodeSecurity security, NodeMeters all, NodeSockets sockets, SpaceTiers tiers,
      Outside outside, @Nullable TierRecording recording) {
    this.cluster = outside.cluster;
    this.doors = outside.doors;
    this.recording = recording;
    this.config = config;
    this.security = security;
    // a task that is cancelled is not interrupted: it may be amid a read of a file
    this.regions = config.get(TransportSettings.REGIONS).map(folder -> new RegionFolder(
        folder.toAbsolutePath().normalize(), Schedulers.fromExecutor((Executor) regionThreads::execute)));
    this.sockets = sockets;
    this.registry = all.registry();
    this.meters = all.meters();
    this.wireMeters = all.wire();
    this.tiers = tiers;
    this.drainTime = new DrainTime(config.get(NodeSettings.DRAIN_TIMEOUT), GOODBYE, System::nanoTime);
    this.budget = new ByteBudget("node", config.get(NodeSettings.BUDGET), config.get(NodeSettings.WAITERS));
    this.rank = new NodeAsRank(config, security.registryPass(), meters, timers, System.currentTimeMillis(),
        NameResolver.ofSystem(), recording);
    meters.bind(budget);
    cluster.bindTo(registry);
    new JvmMemoryMetrics().bindTo(registry);
    ResidentMemory.bindTo(registry);
    collections.bindTo(registry);
    if (ByteBufAllocator.DEFAULT instanceof ByteBufAllocatorMetricProvider allocator) {
      new NettyAllocatorMetrics(allocator).bindTo(registry);
    }
  }

  /// Engines that a node loads only if its settings ask for them.
  private record Outside(NodeInCluster cluster, NodeDoors doors) {
    static Outside of(NodeConfig config) throws IOException {
      return new Outside(NodeInCluster.of(config), NodeDoors.of(config));
    }
  }

  /// Starts a node from `config`.
  ///
  /// @return a cold `Mono`; each subscription starts a node. It signals the reason if the node cannot listen, naming
  ///     the setting in an `IOException`
  public static Mono<Node> start(NodeConfig config) {
    // Checked before a disk is touched
    return MemoryFailure.requireNode(config).then(MemoryFailure.requireMemory(config))
        .then(DiskRequirement.require(config))
        .then(FreePorts.required(config)).then(Mono.fromCallable(() -> NodeSecurity.of(config)))
        .zipWith(Mono.fromCallable(() -> Outside.of(config)), (security, outside) -> start(config, security, outside))
        .flatMap(node -> node);
  }

  private static Mono<Node> start(NodeConfig config, NodeSecurity security, Outside outside) {
    return Mono.defer(() -> {
      NodeMeters meters = NodeMeters.create();
      TierRecording recording = NodeRecording.begin(config);
      return NodeSockets
          .open(config, security, NodeRecording.links(new ConnectionReports(meters.wire()), recording))
          .flatMap(sockets -> start(config, security, meters, sockets, outside, recording)
              .onErrorResume(failure -> sockets.close().then(Mono.error(failure))))
          .doOnError(failure -> NodeRecording.drop(config, recording));
    });
  }

  private static Mono<Node> start(NodeConfig config, NodeSecurity security, NodeMeters all, NodeSockets sockets,
      Outside outside, @Nullable TierRecording recording) {
    return Mono.defer(() -> {
      TierPlan plan = NodePlan.tiers(config);
      NodeMemory memory = NodeMemory.mapped(NodePlan.memory(config), config.isShared() ? Capacity.OFF : plan.dram(),
          plan.space().layout().blockBytes());
      PenstockMeters meters = all.meters();
      memory.bind(meters);
      MeteredCopies copies = new MeteredCopies(meters);
      return SpaceTiers
          .open(plan, NodePlan.spaces(config), NodePlan.open(config), memory,
              new SpaceTiers.Watchers(
                  each -> meters.listener(each.name(), each.medium()), copies,
                  tier -> opened(tier, meters, outside.cluster),
                  new Sampling(config.get(NodeSettings.WHATIF_SAMPLES), new SecureRandom().nextLong())),
              recording)
          .doOnNext(tiers -> tiers.devices().values().forEach(copies::show))
          .doOnNext(tiers -> tiers.memory().ifPresent(meters::bind))
          .onErrorMap(failure -> MemoryFailure.of(config, DiskFailure.of(config, failure)))
          .flatMap(tiers -> {
            Node node = new Node(config, security, all, sockets, tiers, outside, recording);
            return Mono.defer(node::listen).thenReturn(node)
                .onErrorResume(failure -> node.close().then(Mono.error(failure)));
          });
    });
  }

  private static void opened(NodeTiers tier, PenstockMeters meters, NodeInCluster cluster) {
    meters.bind(tier.info().name(), tier.arena());
    cluster.opened(tier);
  }

  private Mono<Void> listen() {
    cluster.place(sockets.told(), generation, tiers::tiers, budget, timers, sockets.loops());
    Mono<Void> wire = KvServer
        .bind(sockets.transport(), cluster.counted(tiers), null, disagg(), serverOptions(), budget, timers, decisions,
            passwords)
        .doOnNext(this::serving).then();
    security.watch(decisions);
    LiveClock.process().reads(signsOfLife);
    RankRegistry known = ranks;
    if (known != null) { // it may receive no call
      timers.schedulePeriodically(known::expire, EXPIRY.toMillis(), EXPIRY.toMillis(), TimeUnit.MILLISECONDS);
    }
    timers.schedulePeriodically(tiers::expire, EXPIRY.toMillis(), EXPIRY.toMillis(), TimeUnit.MILLISECONDS);
    return bindAdmin(config.get(AdminSettings.PORT)).then(Mono.fromCallable(this::openSideCar))
        .then(Mono.fromCallable(this::openKvEvents).then()).then(wire)
        .then(Mono.defer(() -> doors.open(house())))
        .then(cluster.join())
        .then(Mono.defer(() -> rank.register(sockets.advertised(), sockets.loops())))
        .then(Mono.fromRunnable(() -> state.set(NodeState.READY)));
  }

  private NodeDoors.House house() {
    return new NodeDoors.House(security.tls(), security.access(), cluster.counted(tiers).tiers(), generation,
        new DoorTerms.Threads(sockets.loops(), timers, decisions, passwords),
        new DoorTerms.Clocks(InstantSource.system(), System::nanoTime), registry);
  }

  private @Nullable SideCarServer openSideCar() throws IOException {
    Optional<Path> path = config.get(NodeSettings.SIDECAR);
    if (path.isPresent()) {
      SideCarServerOptions options = SideCarServerOptions.defaults()
          .withMaxBytes(config.get(NodeSettings.SIDECAR_CLIENT_BYTES), config.get(NodeSettings.SIDECAR_BYTES));
      SideCarServer opened = BindFailure.naming(config, NodeSettings.SIDECAR,
          () -> SideCarServer.open(path.get(), options, tiers.devices()));
      MeteredSideCar.show(meters, opened);
      sideCar = opened;
    }
    return sideCar;
  }

  /// Publishes the events of each space that the settings state, except those of tenants: the port has no
  /// authentication, and the hash of a block reveals its prompt. Spaces that clients open later have none: a router
  /// could not know their ports.
  private List<KvStream> openKvEvents() throws IOException {
    List<NodeTiers> all = config.get(KvEventSettings.PORT).isOff() ? List.of() : tiers.all();
    for (int i = 0; i < all.size(); i++) {
      TierInfo info = all.get(i).info();
      if (!info.space().tenantSalt().isEmpty() && !config.get(KvEventSettings.SALTED)) {
        continue;
      }
      KvEventsPublisher opened = KvEventsPublisher.start(told(all.get(i)),
          KvEventSettings.options(config, i, all.size(), info.name(), info.space()), InstantSource.system(),
          System::nanoTime);
      kvEvents.add(new KvStream(info.name(), opened));
      if (config.get(KvEventSettings.TOKENS) > 0) {
        all.get(i).addTokensTo(opened.tokens());
      }
      KvEventsMeters.show(registry, info.name(), opened);
    }
    return kvEvents;
  }

  /// The tier whose events are published for the space of `own`.
  private BlockTier told(BlockTier own) {
    return config.get(KvEventSettings.OF) == KvEventSettings.Whose.CLUSTER ? cluster.wide(own) : own;
  }

  private void serving(KvServer bound) {
    server = bound;
    wireMeters.show(bound);
  }

  private Mono<Void> bindAdmin(PortChoice port) {
    return port.isOff()
        ? Mono.empty()
        : new AdminServer(tiers::tiers, sockets::states, this::state, registry, meters, timers,
            new WhatIfPages(
                () -> tiers.all().stream().map(tier -> new WhatIfPages.Source(tier.info(), tier::whatIf)).toList()),
            security::problems, cluster.page(), doors::facts)
            .bind(config.get(AdminSettings.HOST), port.port(), security.admin(), adminLoops, passwords)
            .doOnNext(bound -> admin = bound).then()
            .onErrorMap(ChannelBindException.class,
                e -> BindFailure.of(config, AdminSettings.HOST, AdminSettings.PORT, e));
  }

  private DisaggServices disagg() {
    ranks = config.get(NodeSettings.REGISTRY)
        ? cluster.registry(RegistryOptions.defaults(), LiveClock.process()::nanos, new LoggedRanks(), timers)
        : null;
    return cluster.served(new DisaggServices(ranks, rank.connector(), rank.generation()));
  }

  private KvServerOptions serverOptions() {
    return KvServerOptions.builder().limits(config.limits()).awaitTimeout(config.get(NodeSettings.AWAIT_TIMEOUT))
        .stallTimeout(config.get(NodeSettings.STALL_TIMEOUT)).idleGrace(config.get(NodeSettings.IDLE_GRACE))
        .mostLifetime(config.get(NodeSettings.SILENCE_TIMEOUT))
        .putBlocks(config.get(NodeSettings.RESERVE_BLOCKS)).endpoints(sockets.advertised())
        .access(security.access())
        .streams(new StreamReports(wireMeters, config.get(NodeSettings.LOG_SLOW_TRANSFER)))
        .rates(new Rates(config.get(NodeSettings.LIMITS_REQUESTS).orElse(0L),
            config.get(NodeSettings.LIMITS_BYTES).orElse(0L)))
        .carriers(config.get(TransportSettings.CARRIER)).rings(config.get(TransportSettings.RINGS))
        .ringSpin(Duration.of(config.get(TransportSettings.RING_SPIN), ChronoUnit.MICROS))
        .regions(regions.orElse(null)).doors(doors::stat).generation(generation).build();
  }

  /// Why the registry does not take this rank any more, or the cluster this node, as soon as one says so: the node is
  /// to end then.
  Mono<Exception> refusal() {
    return Flux.merge(rank.refusal(), cluster.refusal()).next();
  }

  /// What the node records; null for nothing.
  @Nullable TierRecording recording() {
    return recording;
  }

  /// Port that clients connect to; 0 if the node has Unix domain sockets alone.
  public int port() {
    return sockets.port();
  }

  /// Every transport that was wanted, the preferred one first.
  List<TransportState> transports() {
    return sockets.states();
  }

  /// Endpoints for clients beyond this host.
  List<Endpoint> endpoints() {
    return sockets.shown();
  }

  /// Port of the admin endpoints, if they are on.
  public OptionalInt adminPort() {
    DisposableServer bound = admin;
    return bound == null ? OptionalInt.empty() : OptionalInt.of(bound.port());
  }

  /// Publications of KV events, one for each space; empty if they are off.
  List<Ready.KvEvents> kvEvents() {
    return kvEvents.stream().map(each -> Ready.KvEvents.of(each.space, each.publisher)).toList();
  }

  /// The cluster that the node has joined; null if it is in none.
  Ready.@Nullable OfCluster cluster() {
    return cluster.joined();
  }

  /// Number of the values of doors that lie in memory alone, and end with this node.
  ///
  /// @return cold; empty if they cannot be counted, or not within a second
  public Mono<Long> valuesInMemoryAlone() {
    return counted("values", doors.inMemoryAlone());
  }

  /// Number of the blocks that lie in memory alone, and end with this node: without those of the spaces of doors, which
  /// are counted as values, and without those on their way to the disk.
  ///
  /// @return cold; empty if they cannot be counted, or not within a second
  public Mono<Long> blocksInMemoryAlone() {
    Set<CacheSpace> ofDoors = doors.spaces();
    return counted("blocks", Flux.fromIterable(tiers.all())
        .filter(tier -> !ofDoors.contains(tier.info().space())).concatMap(BlockTier::stat, 1)
        .map(Node::inMemoryAlone).reduce(0L, Long::sum));
  }

  private static long inMemoryAlone(TierStat stat) {
    long onDisk = stat.levels().stream().filter(level -> level.medium() == Medium.DISK)
        .mapToLong(TierStat.Level::storedBlocks).sum();
    return Math.max(0, stat.blocks() - onDisk - stat.tiering().queuedBlocks());
  }

  private Mono<Long> counted(String what, Mono<Long> count) {
    return count.subscribeOn(decisions).timeout(COUNT_PATIENCE, Mono.empty(), timers).onErrorResume(failure -> {
      LOG.debug("{} in memory alone are not counted: {}", what, Reason.of(failure));
      return Mono.empty();
    });
  }

  /// Figures of the doors for clients of other protocols.
  public List<NodeDoors.Facts> doors() {
    return doors.facts();
  }

  public NodeState state() {
    NodeState now = state.get();
    return now == NodeState.READY && tiers.isOpening() ? NodeState.OPENING : now;
  }

  /// Tells the cluster, leaves the registry, lets kept requests end, takes no new work, lets running streams end, all
  /// within `drain.timeout`, then closes; blocks on their way to the disk have the rest of that time. Lazy and
  /// idempotent.
  ///
  /// @return true if every stream ended by itself
  public Mono<Boolean> drain() {
    return drained().flatMap(clean -> close().thenReturn(clean));
  }

  /// Drains as the other form does; once.
  ///
  /// @param values receives [#valuesInMemoryAlone()] unless it is 0; counted beside the drain, or behind it if memory
  ///     is saved
  /// @param blocks receives [#blocksInMemoryAlone()] unless it is 0; counted after the drain, before the tiers close
  Mono<Boolean> drain(LongConsumer values, LongConsumer blocks) {
    Mono<Boolean> told = told(valuesInMemoryAlone(), values);
    Mono<Boolean> drained = config.get(NodeSettings.SSD_SAVE)
        ? drained().flatMap(clean -> told.thenReturn(clean))
        : Mono.zip(drained(), told, (clean, any) -> clean);
    return drained.flatMap(clean -> told(blocksInMemoryAlone(), blocks).then(close()).thenReturn(clean));
  }

  /// @return whether there were any
  private static Mono<Boolean> told(Mono<Long> count, LongConsumer to) {
    return count.filter(any -> any > 0).doOnNext(to::accept).hasElement();
  }

  /// @return whether every stream ended by itself, when all have ended
  private Mono<Boolean> drained() {
    return Mono.defer(() -> {
      state.set(NodeState.DRAINING);
      cluster.drains();
      KvServer bound = server;
      Mono<Boolean> ended = bound == null
          ? Mono.just(true)
          : rank.drained().then(Mono.when(bound.drained(), doors.drained())).thenReturn(true)
              .timeout(config.get(NodeSettings.DRAIN_TIMEOUT), Mono.just(false), timers);
      Mono<Boolean> left = rank.leave().then(Mono.empty()); // beside the drain: a registry may be slow to answer
      return drainTime.taken(Flux.merge(left, ended).next()).flatMap(clean -> saved().thenReturn(clean));
    });
  }

  /// A replay of a recording makes no such moves, so the recording ends before.
  private Mono<Void> saved() {
    return config.get(NodeSettings.SSD_SAVE)
        ? Mono.defer(this::endRecording)
            .then(drainTime.taken(Mono.defer(() -> tiers.save(drainTime.left(), timers)))).onErrorResume(failure -> {
              LOG.warn("blocks in memory are not all saved: {}", Reason.of(failure));
              return Mono.empty();
            })
        : Mono.empty();
  }

  /// Ends running streams now, then everything else; blocks that are on their way to the disk have `drain.timeout` to
  /// get there. Lazy and idempotent.
  public Mono<Void> close() {
    return closed;
  }

  private Mono<Void> closeNow() {
    state.set(NodeState.DRAINING);
    KvServer boundServer = server;
    DisposableServer boundAdmin = admin;
    Mono<Void> wire = boundServer == null ? Mono.empty() : boundServer.close();
    SideCarServer openSideCar = sideCar;
    Mono<Void> copies = openSideCar == null ? Mono.empty() : openSideCar.close().timeout(GOODBYE, Mono.empty(), timers);
    Mono<Void> http = boundAdmin == null ? Mono.empty() : Mono.fromRunnable(boundAdmin::dispose);
    Mono<Void> publishers = Flux.fromIterable(kvEvents)
        .concatMap(each -> Mono.<Void>fromRunnable(each.publisher::close).subscribeOn(decisions)).then();
    return Endings.inOrder(List.of(cluster.leave().timeout(GOODBYE, Mono.empty(), timers),
        rank.close().timeout(GOODBYE, Mono.empty(), timers),
        Mono.when(wire, doors.close()).timeout(GOODBYE, Mono.empty(), timers), http, copies, publishers,
        Mono.defer(this::endRecording),
        Mono.defer(() -> tiers.closeWithin(drainTime.left(), timers, System::nanoTime)),
        sockets.close(),
        adminLoops.disposeLater(QUIET, GOODBYE), Mono.fromRunnable(this::closeRest)));
  }

  /// Waits for the disk of the recording, but no longer than the drain may take.
  private Mono<Void> endRecording() {
    return Mono.<Void>fromRunnable(() -> NodeRecording.end(recording)).subscribeOn(Schedulers.boundedElastic())
        .timeout(drainTime.left(), Mono.empty(), timers);
  }

  private void closeRest() {
    collections.close();
    registry.close();
    LiveClock.process().forget(signsOfLife);
    timers.dispose();
    decisions.dispose();
    passwords.dispose();
    regionThreads.shutdown();
  }
}
