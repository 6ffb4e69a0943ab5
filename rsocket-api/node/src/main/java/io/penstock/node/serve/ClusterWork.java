package io.penstock.node.serve;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.block.CacheSpace;
import io.penstock.block.SlabArena;
import io.penstock.block.SpaceId;
import io.penstock.check.Uncaught;
import io.penstock.node.cluster.ClusterTerms;
import io.penstock.node.cluster.hot.CountedSpaces;
import io.penstock.node.cluster.hot.Demand;
import io.penstock.node.cluster.hot.HotCopies;
import io.penstock.node.cluster.quota.ClusterQuotas;
import io.penstock.node.cluster.roster.ClusterLooks;
import io.penstock.node.cluster.roster.ClusterSight;
import io.penstock.node.cluster.task.NodeTasks;
import io.penstock.node.cluster.task.OwnBlocks;
import io.penstock.node.config.ClusterSettings;
import io.penstock.node.config.NodeConfig;
import io.penstock.node.config.NodeSettings;
import io.penstock.node.config.SpaceSettings;
import io.penstock.node.config.TransportSettings;
import io.penstock.node.link.ClusterLink;
import io.penstock.node.link.NodePass;
import io.penstock.node.tiers.Endings;
import io.penstock.tier.BlockTier;
import io.penstock.tier.ByteBudget;
import io.penstock.wire.client.KvClient;
import io.penstock.wire.client.KvClientOptions;
import io.penstock.wire.cluster.ClusterDirectory;
import io.penstock.wire.cluster.ClusterTasks;
import io.penstock.wire.cluster.Member;
import io.penstock.wire.cluster.SharedTable;
import io.penstock.wire.cluster.SpaceQuota;
import io.penstock.wire.cluster.tier.ClusterTier;
import io.penstock.wire.server.space.NodeSpaces;
import io.penstock.wire.transport.ConnectionListener;
import io.penstock.wire.transport.Endpoint;
import io.penstock.wire.transport.SocketTuning;
import io.penstock.wire.transport.tcp.TcpClientOptions;
import io.penstock.wire.transport.tcp.TcpTransport;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;
import reactor.netty.resources.LoopResources;

/// The tasks of a node of a cluster, and its connections to other members, which it makes when a task needs them. Safe
/// from any thread.
final class ClusterWork {
  /// Blocks of a window to or from another member.
  private static final int WINDOW = 16;
  private static final int LANDING_CHUNK = 8;
  private static final long LEAST_BUDGET = 8 << 20;
  private static final int WAITERS = 1024;
  private static final Duration CONNECT_PATIENCE = Duration.ofSeconds(1);

  private final NodeConfig config;
  private final ClusterTerms terms;
  private final NodePass pass;
  private final ClusterDirectory directory;
  private final Supplier<List<BlockTier>> tiers;
  private final LoopResources loops;
  private final ByteBudget budget;
  private final Scheduler steps = Schedulers.newSingle("penstock-tasks", true);
  private final NodeTasks tasks;
  private final Demand demand;
  private final HotCopies hot;
  private final ClusterLooks looking;
  private final Disposable.Swap looks = Disposables.swap();
  private final Disposable.Swap keeping = Disposables.swap();
  private volatile @Nullable ClusterQuotas quotas;
  @GuardedBy("this") private final Map<BlockTier, Space> spaces = new LinkedHashMap<>();

  /// A space of the node, and where blocks of it land that come from other members.
  private record Space(OwnBlocks blocks, Landing landing) {
    /// Ends the connections, then gives the memory back.
    Mono<Void> close() {
      return blocks.cluster().close().onErrorComplete().then(Mono.fromRunnable(landing::close));
    }
  }

  /// An arena of two windows, made when a connection needs it.
  private static final class Landing {
    private final CacheSpace space;
    @GuardedBy("this") private @Nullable SlabArena arena;

    Landing(CacheSpace space) {
      this.space = space;
    }

    synchronized SlabArena arena() {
      SlabArena now = arena;
      if (now == null) {
        now = new SlabArena("members", space.layout(), 2 * WINDOW, LANDING_CHUNK);
        arena = now;
      }
      return now;
    }

    synchronized void close() {
      if (arena != null) {
        arena.close();
      }
    }
  }

  /// @param pass shown to other members
  /// @param tiers of all spaces; there may be more of them later
  /// @param tell tells the cluster whether the node takes new blocks
  /// @param toldAgo age of the record of the member of a name
  /// @param loops stay the caller's
  ClusterWork(NodeConfig config, ClusterTerms terms, NodePass pass, ClusterDirectory directory,
      Supplier<List<BlockTier>> tiers, Consumer<Member.State> tell,
      Function<String, Optional<Duration>> toldAgo, LoopResources loops) {
    this.config = config;
    this.terms = terms;
    this.pass = pass;
    this.directory = directory;
    this.tiers = tiers;
    this.loops = loops;
    this.budget = new ByteBudget("members", Math.max(LEAST_BUDGET, 2L * config.get(NodeSettings.SLICE_BYTES)), WAITERS);
    this.tasks = new NodeTasks(new NodeTasks.Terms(terms.node(), this::isSelf, directory::members,
        config.get(ClusterSettings.TASK_RATE)),
        () -> spaces(this::isSelf), tell, terms.timers(), steps);
    this.demand = new Demand(HotCopies.HALF_LIFE, () -> terms.timers().now(TimeUnit.NANOSECONDS));
    this.hot = new HotCopies(this::isSelf, config.get(ClusterSettings.HOT_RATE), demand, () -> spaces(this::isSelf),
        terms.timers(), steps);
    this.looking = new ClusterLooks(new ClusterLooks.Terms(directory, terms.node(), tasks, toldAgo,
        place -> ClusterLink.to(place, pass, loops, CONNECT_PATIENCE), terms.timers()));
  }

  /// Looks at the whole cluster.
  Mono<ClusterSight> look() {
    return looking.look();
  }

  /// `spaces`, whose reads count as demand.
  NodeSpaces counted(NodeSpaces served) {
    return new CountedSpaces(served, demand);
  }

  /// Copies of hot blocks that this node keeps at other members.
  int hotCopies() {
    return hot.copies();
  }

  /// Begins to look for hot blocks, and to keep spaces within their quotas: when the node has joined.
  ///
  /// @param table in which members tell how much of a space they have
  void begin(SharedTable table) {
    looks.update(hot.run().subscribe());
    ClusterQuotas now = new ClusterQuotas(new ClusterQuotas.Self(terms.node(), terms.generation()), limited(),
        directory::members, table, steps);
    keeping.update(now);
    quotas = now;
    now.begin();
  }

  private List<ClusterQuotas.Limited> limited() {
    Map<SpaceId, BlockTier> own = new HashMap<>();
    tiers.get().forEach(tier -> own.put(tier.info().space().id(), tier));
    List<ClusterQuotas.Limited> limited = new ArrayList<>();
    for (SpaceSettings space : config.spaces()) {
      BlockTier tier = own.get(space.space().id());
      Optional<Long> most = space.clusterQuotaBytes();
      if (tier != null && most.isPresent()) {
        limited.add(new ClusterQuotas.Limited(tier, space.name(), most.get()));
      }
    }
    return limited;
  }

  /// Spaces that have a quota over all members.
  List<SpaceQuota> quotas() {
    ClusterQuotas now = quotas;
    return now == null ? List.of() : now.quotas();
  }

  ClusterTasks tasks() {
    return tasks;
  }

  /// The spaces that the node has now. What others needed is given back.
  private List<OwnBlocks> spaces(Predicate<Member> self) {
    List<OwnBlocks> all = new ArrayList<>();
    List<Space> ended = new ArrayList<>();
    List<BlockTier> now = tiers.get();
    synchronized (this) {
      spaces.entrySet().removeIf(space -> !now.contains(space.getKey()) && ended.add(space.getValue()));
      for (BlockTier tier : now) {
        all.add(space(tier, self));
      }
    }
    ended.forEach(space -> space.close().subscribe(nothing -> {}, Uncaught::report));
    return all;
  }

  @GuardedBy("this") private OwnBlocks space(BlockTier tier, Predicate<Member> self) {
    Space known = spaces.get(tier);
    if (known == null) {
      Landing landing = new Landing(tier.info().space());
      known = new Space(new OwnBlocks(tier, ClusterTier.within(directory, self, tier, connecting(landing),
          terms.place(), terms.timers(), steps, RandomGenerator.getDefault())), landing);
      spaces.put(tier, known);
    }
    return known.blocks;
  }

  /// All members as one tier, for the space of `own`.
  synchronized BlockTier wide(BlockTier own) {
    return space(own, this::isSelf).cluster();
  }

  private boolean isSelf(Member member) {
    return member.name().equals(terms.node());
  }

  /// Connects to another member.
  ///
  /// @param landing of blocks that come from there
  private Function<Endpoint, Mono<KvClient>> connecting(Landing landing) {
    KvClientOptions options = pass.with(KvClientOptions.builder().name("node " + terms.node())
        .maxSliceBytes(config.get(NodeSettings.SLICE_BYTES))
        .windowBlocks(Math.min(WINDOW, config.get(NodeSettings.WINDOW_BLOCKS)))).build();
    SocketTuning tuning = TransportSettings.ofClients(config);
    return place -> KvClient.connect(
        TcpTransport.client(place, pass.with(TcpClientOptions.to(place.address()).withTuning(tuning)), loops,
            ConnectionListener.noop()),
        options, landing.space, landing.arena(), budget);
  }

  /// Ends all tasks. Lazy.
  Mono<Void> ended() {
    return Mono.fromRunnable(() -> {
      looks.dispose();
      keeping.dispose();
      tasks.close();
    });
  }

  /// Ends all tasks and connections. Lazy.
  Mono<Void> close() {
    return Mono.defer(() -> {
      looks.dispose();
      keeping.dispose();
      tasks.close();
      List<Mono<Void>> ends = new ArrayList<>();
      synchronized (this) {
        spaces.values().forEach(space -> ends.add(space.close()));
        spaces.clear();
      }
      ends.add(Mono.fromRunnable(steps::dispose));
      return Endings.inOrder(ends);
    });
  }
}
