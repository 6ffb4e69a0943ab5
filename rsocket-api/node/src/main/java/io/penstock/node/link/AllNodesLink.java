package io.penstock.node.link;

import io.penstock.block.CacheSpace;
import io.penstock.block.SlabArena;
import io.penstock.node.config.NodeConfig;
import io.penstock.node.config.NodeSettings;
import io.penstock.operator.LiveTimers;
import io.penstock.tier.BlockTier;
import io.penstock.tier.ByteBudget;
import io.penstock.wire.client.KvClient;
import io.penstock.wire.client.KvClientOptions;
import io.penstock.wire.client.ServerStat;
import io.penstock.wire.cluster.tier.ClusterTier;
import io.penstock.wire.cluster.tier.Spread;
import io.penstock.wire.cluster.tier.UnreachableException;
import io.penstock.wire.protocol.WireFailure.ConnectionLostException;
import io.penstock.wire.protocol.WireFailure.RemotePermanentException;
import io.penstock.wire.transport.Endpoint;
import io.penstock.wire.transport.tcp.TcpClientOptions;
import io.penstock.wire.transport.tcp.TcpTransport;
import java.time.Duration;
import java.util.List;
import java.util.random.RandomGenerator;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;
import reactor.netty.resources.LoopResources;

/// A link to all nodes of a cluster, by any of them: each block comes from a node that has it.
final class AllNodesLink implements NodeLink {
  private static final Duration GOODBYE = Duration.ofSeconds(2);

  private final LoopResources loops;
  private final Scheduler timers;
  private final Scheduler work;
  private final SlabArena arena;
  private final ClusterTier tier;

  private AllNodesLink(LoopResources loops, Scheduler timers, Scheduler work, SlabArena arena, ClusterTier tier) {
    this.loops = loops;
    this.timers = timers;
    this.work = work;
    this.arena = arena;
    this.tier = tier;
  }

  /// @param address of any node of the cluster
  /// @param config of which slice and window sizes count
  /// @param spread of new blocks
  static NodeLink dial(NodeAddress address, NodeConfig config, CacheSpace space, Duration patience, Spread spread) {
    int window = config.get(NodeSettings.WINDOW_BLOCKS);
    SlabArena arena = new SlabArena("client", space.layout(), 4 * window, 64);
    LoopResources loops = LoopResources.create("penstock-client", 1, true);
    Scheduler timers = LiveTimers.of(Schedulers.newSingle("penstock-client-timers", true));
    Scheduler work = Schedulers.newSingle("penstock-client-events", true);
    KvClientOptions options = WireLink.options(address).maxSliceBytes(config.get(NodeSettings.SLICE_BYTES))
        .windowBlocks(window).build();
    ByteBudget budget = new ByteBudget("client", config.get(NodeSettings.BUDGET), 1024);
    Mono<ClusterTier> connecting = ClusterTier.connect(address.places(),
        place -> KvClient.connect(TcpTransport.client(place, options(address, place, patience), loops,
            address.listener()), options, space, arena, budget),
        space, "", timers, work, RandomGenerator.getDefault(), spread);
    try {
      return new AllNodesLink(loops, timers, work, arena, Answers.of(connecting, patience));
    } catch (RuntimeException e) {
      arena.close();
      timers.dispose();
      work.dispose();
      loops.dispose();
      throw failure(address, e);
    }
  }

  private static TcpClientOptions options(NodeAddress address, Endpoint place, Duration patience) {
    return address.pass().with(TcpClientOptions.to(place.address()).withConnectTimeout(patience));
  }

  static RuntimeException failure(NodeAddress address, RuntimeException e) {
    return switch (e) {
      case ConnectionLostException lost -> WireLink.unavailable(address, lost);
      case UnreachableException unreachable when unreachable.getCause() instanceof ConnectionLostException lost ->
        WireLink.unavailable(address, lost);
      case RemotePermanentException remote when WireLink.isUnknownRoute(remote) ->
        WireClusterLink.outside(address, remote);
      default -> e;
    };
  }

  @Override
  public BlockTier tier() {
    return tier;
  }

  @Override
  public Mono<ServerStat> stat() {
    return Mono.error(new IllegalStateException("link must be of one node to ask for its figures (was of a cluster)"));
  }

  @Override
  public void close() {
    tier.close().block(GOODBYE);
    arena.close();
    timers.dispose();
    work.dispose();
    WireLink.end(loops);
  }
}
