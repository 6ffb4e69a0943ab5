package io.penstock.node.serve;

import static java.util.Objects.requireNonNull;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.penstock.TransientKvException;
import io.penstock.block.BlockKey;
import io.penstock.check.Uncaught;
import io.penstock.disagg.registry.RankRegistry;
import io.penstock.disagg.registry.RegistryOptions;
import io.penstock.node.cli.DataException;
import io.penstock.node.cli.OwnerFile;
import io.penstock.node.cli.UnavailableException;
import io.penstock.node.cluster.ClusterTerms;
import io.penstock.node.cluster.Clusters;
import io.penstock.node.cluster.Membership;
import io.penstock.node.cluster.roster.ClusterSight;
import io.penstock.node.config.ClusterSettings;
import io.penstock.node.config.NodeConfig;
import io.penstock.node.config.NodeConfig.Effective;
import io.penstock.node.link.NodePass;
import io.penstock.node.setting.Setting;
import io.penstock.node.text.Reason;
import io.penstock.node.tiers.Endings;
import io.penstock.tier.BlockTier;
import io.penstock.tier.ByteBudget;
import io.penstock.wire.cluster.ClusterDirectory;
import io.penstock.wire.cluster.ClusterView;
import io.penstock.wire.cluster.GatewayBoard;
import io.penstock.wire.cluster.Located;
import io.penstock.wire.cluster.Member;
import io.penstock.wire.cluster.NotJoinedException;
import io.penstock.wire.cluster.SpaceQuota;
import io.penstock.wire.rank.SharedRanks;
import io.penstock.wire.server.route.DisaggServices;
import io.penstock.wire.server.space.NodeSpaces;
import io.penstock.wire.transport.Endpoint;
import java.io.IOException;
import java.net.BindException;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.ServiceLoader;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.core.scheduler.Scheduler;
import reactor.netty.ChannelBindException;
import reactor.netty.resources.LoopResources;

/// The work of a node as a member of a cluster: it joins, tells which blocks its tiers have and how full they are, and
/// leaves. A node that is in no cluster does nothing, and loads no engine. Safe from any thread.
final class NodeInCluster {
  private static final Logger LOG = LoggerFactory.getLogger(NodeInCluster.class);
  private static final Duration TOLD_EACH = Duration.ofSeconds(1);
  private static final int LEAST_SECRET = 16;
  /// Table in which registries tell each other of ranks.
  private static final String RANKS = "ranks";
  /// Table in which gateways tell each other what their tenants use.
  private static final String GATEWAYS = "gateways";

  /// Table in which members tell how much they have of spaces with a quota.
  private static final String SPACES = "spaces";

  private final NodeConfig config;
  /// Null for a node that is in no cluster.
  private final @Nullable Clusters engine;
  private final byte @Nullable [] secret;
  private final NodePass pass;
  /// Null for a node that is in no cluster. Kept here, because gauges keep nothing.
  private final @Nullable ClusterDirectory known;
  private final GatewayBoard gateways = new GatewayBoard(System::nanoTime);
  private final Disposable.Composite running = Disposables.composite();
  private final Mono<Void> left = Mono.defer(this::leaveNow).cache();
  /// Tiers that were open before the node had joined.
  @GuardedBy("this") private final List<BlockTier> open = new ArrayList<>();
  private volatile @Nullable ClusterTerms terms;
  private volatile @Nullable NodeFigures figures;
  private volatile @Nullable ClusterWork work;
  private volatile @Nullable Membership membership;
  /// Makes the registry of this node one with the others.
  private volatile Consumer<Membership> sharing = member -> {};
  private final Sinks.One<Exception> refusal = Sinks.one();
  private volatile boolean isEnding;
  private volatile Ready.@Nullable OfCluster joined;

  private NodeInCluster(NodeConfig config, @Nullable Clusters engine, byte @Nullable [] secret,
      NodePass pass) {
    this.config = config;
    this.pass = pass;
    this.engine = engine;
    this.secret = secret;
    this.known = config.get(ClusterSettings.CLUSTER).map(Known::new).orElse(null);
  }

  /// Finds the engine, and reads the secret, for a node that is to be in a cluster.
  ///
  /// @throws UnavailableException if there is no engine
  static NodeInCluster of(NodeConfig config) throws IOException {
    return config.get(ClusterSettings.CLUSTER).isEmpty()
        ? new NodeInCluster(config, null, null, NodePass.none())
        : new NodeInCluster(config, engine(config), secret(config), new NodePass(
            RegistryPass.tls(config, ClusterSettings.TLS),
            RegistryPass.credentials(config, ClusterSettings.USER, ClusterSettings.PASSWORD)));
  }

  private static Clusters engine(NodeConfig config) {
    return ServiceLoader.load(Clusters.class).findFirst().orElseThrow(() -> new UnavailableException(
        refused(config, ClusterSettings.CLUSTER, "none without the artifact io.penstock:penstock-cluster on the class"
            + " path, which has the engine of clusters")));
  }

  private static byte @Nullable [] secret(NodeConfig config) throws IOException {
    Optional<Path> file = config.get(ClusterSettings.SECRET);
    if (file.isEmpty()) {
      return null;
    }
    String line = OwnerFile.firstLine(ClusterSettings.SECRET.key(), file.get()).strip();
    if (line.length() < LEAST_SECRET) {
      throw new DataException("%s must have a secret of at least %d characters in its first line (has %d: %s)"
          .formatted(ClusterSettings.SECRET.key(), LEAST_SECRET, line.length(), file.get()));
    }
    return line.getBytes(StandardCharsets.UTF_8);
  }

  private static String refused(NodeConfig config, Setting<?> setting, String rule) {
    Effective said = config.effective(setting);
    return "%s must be %s (was %s, from %s)".formatted(setting.key(), rule, said.text(), said.origin());
  }

  /// `services`, with what the node answers clients about its cluster, of which it knows nothing before it has joined.
  DisaggServices served(DisaggServices services) {
    ClusterDirectory directory = known;
    ClusterWork tasks = work;
    DisaggServices all = services.withGateways(gateways);
    return directory == null || tasks == null ? all : all.withCluster(directory, tasks.tasks());
  }

  /// `spaces` as the node serves them: in a cluster, reads count as demand for copies.
  NodeSpaces counted(NodeSpaces spaces) {
    ClusterWork tasks = work;
    return tasks == null ? spaces : tasks.counted(spaces);
  }

  /// All members as one tier, for the space of `own`.
  ///
  /// @throws IllegalStateException if the node is in no cluster
  BlockTier wide(BlockTier own) {
    ClusterWork tasks = work;
    if (tasks == null) {
      throw new IllegalStateException("node must be in a cluster (was in none)");
    }
    return tasks.wide(own);
  }

  /// The registry of the node. In a cluster it is one with those of other members, and answers once the node has
  /// joined.
  ///
  /// @param nanos clock of heartbeats and lives
  /// @param timers runs its steps
  RankRegistry registry(RegistryOptions options, LongSupplier nanos, RankRegistry.Listener listener, Scheduler timers) {
    if (engine == null) {
      return new RankRegistry(options, nanos, listener);
    }
    SecureRandom random = new SecureRandom();
    SharedRanks share = new SharedRanks(timers, random);
    RankRegistry registry = new RankRegistry(options, nanos, listener, share, random);
    sharing = member -> running.add(share.join(registry, member.table(RANKS)));
    return registry;
  }

  private final class Known implements ClusterDirectory {
    private final String cluster;

    Known(String cluster) {
      this.cluster = cluster;
    }

    @Override
    public String cluster() {
      return cluster;
    }

    @Override
    public List<Member> members() {
      Membership now = membership;
      return now == null ? List.of() : now.members();
    }

    @Override
    public List<SpaceQuota> quotas() {
      ClusterWork tasks = work;
      return tasks == null ? List.of() : tasks.quotas();
    }

    @Override
    public Mono<Located> locate(List<BlockKey> keys) {
      Membership now = membership;
      if (now == null && isEnding) { // clients are to ask another node, rather than take all for misses
        return Mono.error(
            () -> new TransientKvException("node must be a member of cluster " + cluster + " (has left)"));
      }
      return now == null
          ? Mono.error(NotJoinedException::new)
          : now.locate(keys);
    }
  }

  /// The page of the admin endpoints; null for a node that is in no cluster.
  @Nullable Mono<ClusterSight> page() {
    return known == null ? null : Mono.defer(() -> requireNonNull(work, "place() comes first").look());
  }

  /// Shows how many members there are.
  void bindTo(MeterRegistry registry) {
    ClusterDirectory directory = known;
    if (directory != null) {
      for (Member.State state : Member.State.values()) {
        Gauge.builder("penstock.cluster.members", directory, all -> count(all, state))
            .tag("state", state.name().toLowerCase(Locale.ROOT))
            .description("Members of the cluster, as far as this node knows").register(registry);
      }
      FunctionCounter.builder("penstock.cluster.refused", this, NodeInCluster::refused)
          .description("Messages to this member that were not sealed with the secret of its cluster")
          .register(registry);
      FunctionCounter.builder("penstock.cluster.unanswered", this, NodeInCluster::unanswered)
          .description("Questions about blocks that members did not answer in time, or answered with an error")
          .register(registry);
      Gauge.builder("penstock.cluster.hot.copies", this, NodeInCluster::hotCopies)
          .description("Copies of hot blocks that this node keeps at other members").register(registry);
    }
  }

  private long refused() {
    Membership member = membership;
    return member == null ? 0 : member.refused();
  }

  private long unanswered() {
    Membership member = membership;
    return member == null ? 0 : member.unanswered();
  }

  private int hotCopies() {
    ClusterWork tasks = work;
    return tasks == null ? 0 : tasks.hotCopies();
  }

  private static long count(ClusterDirectory directory, Member.State state) {
    return directory.members().stream().filter(member -> member.state() == state).count();
  }

  /// Says what the node tells its cluster when it joins.
  ///
  /// @param endpoints for clients, preferred first; at least one
  /// @param generation of the node
  /// @param tiers of all spaces; there may be more of them later
  /// @param budget of the node
  /// @param loops of its connections to other members; they stay the caller's
  void place(List<Endpoint> endpoints, long generation, Supplier<List<BlockTier>> tiers, ByteBudget budget,
      Scheduler timers, LoopResources loops) {
    ClusterDirectory directory = known;
    if (directory == null) {
      return;
    }
    List<String> places = endpoints.stream().map(Endpoint::toString).toList();
    NodeFigures full = new NodeFigures(tiers, NodePlan.capacityBytes(config), budget);
    ClusterTerms told = new ClusterTerms(directory.cluster(),
        config.get(ClusterSettings.NODE_NAME).orElseGet(places::getFirst), generation,
        config.get(ClusterSettings.PLACE).orElse(""), config.get(ClusterSettings.SEEDS),
        config.get(ClusterSettings.HOST), config.get(ClusterSettings.PORT), secret, () -> places, full, timers);
    figures = full;
    terms = told;
    work = new ClusterWork(config, told, pass, directory, tiers, this::tell, this::toldAgo, loops);
  }

  /// Joins the cluster, and tells it which blocks the node has from then on.
  ///
  /// @return cold; signals an `IOException` that names the setting which keeps the node out
  Mono<Void> join() {
    return Mono.defer(() -> {
      Clusters clusters = engine;
      ClusterTerms told = terms;
      NodeFigures full = figures;
      return clusters == null || told == null || full == null
          ? Mono.empty()
          : full.refreshed().then(clusters.join(told).onErrorMap(IOException.class, this::named))
              .doOnNext(member -> joined(member, told, full)).then();
    });
  }

  /// `failure`, with the setting that it is about.
  private IOException named(IOException failure) {
    for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
      if (cause instanceof BindException) {
        return BindFailure.of(config, ClusterSettings.HOST, ClusterSettings.PORT, ChannelBindException.fail(
            Endpoint.internet(config.get(ClusterSettings.HOST), config.get(ClusterSettings.PORT)), cause));
      } else if (cause instanceof UnknownHostException) {
        return named(ClusterSettings.SEEDS, "of names that have an address", failure);
      }
    }
    return named(ClusterSettings.CLUSTER, "one that this node can join", failure);
  }

  private IOException named(Setting<?> setting, String rule, IOException failure) {
    return new IOException(Reason.after(refused(config, setting, rule), failure), failure);
  }

  private void joined(Membership member, ClusterTerms told, NodeFigures full) {
    joined = new Ready.OfCluster(told.cluster(), told.node(), member.address());
    running.add(Flux.interval(TOLD_EACH, told.timers()).onBackpressureDrop()
        .concatMap(tick -> full.refreshed().onErrorResume(failure -> {
          LOG.debug("a tier does not tell its figures", failure);
          return Mono.empty();
        }), 1).subscribe());
    sharing.accept(member);
    running.add(gateways.join(member.table(GATEWAYS)));
    running.add(member.lost().subscribe(refusal::tryEmitValue, Uncaught::report));
    synchronized (this) {
      membership = member;
      open.forEach(tier -> announce(tier, member));
      open.clear();
    }
    ClusterWork tasks = work;
    if (tasks != null) {
      tasks.begin(member.table(SPACES));
    }
  }

  /// Tells the cluster which blocks `tier` has, now or when the node has joined.
  void opened(BlockTier tier) {
    if (engine == null) {
      return;
    }
    synchronized (this) {
      Membership member = membership;
      if (member != null) {
        announce(tier, member);
      } else {
        open.add(tier);
      }
    }
  }

  private void announce(BlockTier tier, Membership member) {
    running.add(member.announce(tier).subscribe(none -> {},
        failure -> LOG.warn("the cluster is not told any more which blocks of {} the node has: {}",
            tier.info().name(), Reason.of(failure))));
  }

  /// The cluster that the node has joined; null if it is in none.
  Ready.@Nullable OfCluster joined() {
    return joined;
  }

  /// Tells the cluster that the node takes no new blocks, whatever its tasks say later.
  void drains() {
    tell(Member.State.DRAINING);
    isEnding = true;
  }

  private void tell(Member.State state) {
    Membership member = membership;
    if (member != null && !isEnding) {
      member.tell(state);
    }
  }

  private Optional<Duration> toldAgo(String node) {
    Membership member = membership;
    return member == null ? Optional.empty() : member.toldAgo(node);
  }

  /// Emits the reason once the cluster does not take this node any more.
  Mono<Exception> refusal() {
    return refusal.asMono();
  }

  /// Leaves the cluster. Lazy and idempotent.
  Mono<Void> leave() {
    return left;
  }

  private Mono<Void> leaveNow() {
    running.dispose();
    isEnding = true;
    Membership member = membership;
    membership = null;
    ClusterWork tasks = work;
    Mono<Void> leaving = member == null ? Mono.empty() : member.close();
    return tasks == null ? leaving : Endings.inOrder(List.of(tasks.ended(), leaving, tasks.close()));
  }
}
