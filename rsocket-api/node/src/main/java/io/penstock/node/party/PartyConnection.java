package io.penstock.node.party;

import io.penstock.block.SlabArena;
import io.penstock.budget.Permits;
import io.penstock.node.link.Carriage;
import io.penstock.node.link.StreamTimes;
import io.penstock.node.text.Plural;
import io.penstock.operator.LiveTimers;
import io.penstock.tier.BlockTier;
import io.penstock.tier.ByteBudget;
import io.penstock.tier.TierStat;
import io.penstock.wire.client.KvClient;
import io.penstock.wire.client.KvClientOptions;
import io.penstock.wire.client.RemoteTier;
import io.penstock.wire.cluster.tier.ClusterTier;
import io.penstock.wire.cluster.tier.Spread;
import io.penstock.wire.protocol.Carrier;
import io.penstock.wire.transport.ConnectionListener;
import io.penstock.wire.transport.Endpoint;
import io.penstock.wire.transport.tcp.TcpClientOptions;
import io.penstock.wire.transport.tcp.TcpTransport;
import io.rsocket.transport.ClientTransport;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.LongSupplier;
import java.util.random.RandomGenerator;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;
import reactor.netty.resources.LoopResources;

/// One party's own connection, arena and budget.
public final class PartyConnection {
  private static final int LANDING_BYTES = 64 << 20;
  private static final int WAITERS = 4096;

  private final FlowPlan plan;
  private final Reach reach;
  private final SlabArena arena;
  private final ByteBudget budget;
  private final StreamTimes times;

  private PartyConnection(FlowPlan plan, Reach reach, SlabArena arena, ByteBudget budget, StreamTimes times) {
    this.times = times;
    this.plan = plan;
    this.reach = reach;
    this.arena = arena;
    this.budget = budget;
  }

  /// What a party is connected to.
  private interface Reach {
    BlockTier tier();

    /// Whether a question admits the blocks that are missing, so that the answer waits for them.
    boolean admits();

    Mono<PartyStat> stat(int blockBytes);

    /// How its blocks travel, in words.
    String carriage();

    Mono<Void> onClose();

    Mono<Void> close();
  }

  /// Connects a party, for which blocks land in `arena` within `budget`.
  @FunctionalInterface
  private interface Connecting {
    Mono<Reach> reach(KvClientOptions options, SlabArena arena, ByteBudget budget);
  }

  /// One node.
  private record OneNode(KvClient client, BlockTier tier) implements Reach {
    @Override
    public boolean admits() {
      return true;
    }

    @Override
    public Mono<PartyStat> stat(int blockBytes) {
      return client.stat().map(stat -> new PartyStat(stat.inFlightBytes(), stat.peakInFlightBytes(),
          stat.budgetBytes(), leased(stat.stat(), blockBytes), LedgerState.of(stat.stat())));
    }

    @Override
    public String carriage() {
      Set<Carrier> in = client.carried().in().keySet();
      return Carriage.words(
          (in.isEmpty() ? Set.of(client.incomingCarrier()) : in).stream().map(Carrier::label).toList(),
          client.transport());
    }

    @Override
    public Mono<Void> onClose() {
      return client.onClose();
    }

    @Override
    public Mono<Void> close() {
      return client.close();
    }
  }

  /// All nodes of a cluster. What is in flight in them is theirs: they have other clients, too.
  private record AllNodes(ClusterTier tier, int members, Scheduler timers) implements Reach {
    @Override
    public boolean admits() {
      return false;
    }

    @Override
    public Mono<PartyStat> stat(int blockBytes) {
      return tier.stat().map(stat -> new PartyStat(0, 0, 0, leased(stat, blockBytes), LedgerState.of(stat)));
    }

    @Override
    public String carriage() {
      return tier.info().name() + " of " + Plural.of(members, "node");
    }

    @Override
    public Mono<Void> onClose() {
      return Mono.never(); // nodes may come and go
    }

    @Override
    public Mono<Void> close() {
      return tier.close().doFinally(end -> timers.dispose());
    }
  }

  private static long leased(TierStat stat, int blockBytes) {
    return stat.claimedBytes() / blockBytes - stat.blocks();
  }

  private static Connecting to(ClientTransport transport, FlowPlan plan) {
    return (options, arena, budget) -> KvClient.connect(transport, options, plan.space(), arena, budget)
        .map(client -> new OneNode(client, new RemoteTier(client, plan.space())));
  }

  private static Connecting to(List<Endpoint> seeds, LoopResources loops, FlowPlan plan) {
    return (options, arena, budget) -> {
      Scheduler timers = LiveTimers.of(Schedulers.newSingle("penstock-replay-timers", true));
      return ClusterTier.connect(seeds,
          place -> KvClient.connect(TcpTransport.client(place, TcpClientOptions.to(place.address()), loops,
              ConnectionListener.noop()), options, plan.space(), arena, budget),
          plan.space(), "", timers, timers, RandomGenerator.getDefault(), Spread.defaults()) // follows no events
          .flatMap(tier -> tier.members().<Reach>map(members -> new AllNodes(tier, members.size(), timers))
              .onErrorResume(failure -> tier.close().then(Mono.error(failure))))
          .doOnError(failure -> timers.dispose()).doOnCancel(timers::dispose);
    };
  }

  /// Connects a party that reads: room to land a whole request or so, bytes under way bounded by its budget.
  static Mono<PartyConnection> decode(ClientTransport transport, FlowPlan plan) {
    return decode(to(transport, plan), plan);
  }

  /// Connects a party that reads from all nodes of a cluster.
  ///
  /// @param seeds any of its nodes
  static Mono<PartyConnection> decode(List<Endpoint> seeds, LoopResources loops, FlowPlan plan) {
    return decode(to(seeds, loops, plan), plan);
  }

  private static Mono<PartyConnection> decode(Connecting connecting, FlowPlan plan) {
    int blockBytes = plan.space().layout().blockBytes();
    int slots = Math.max(plan.decodeSlots(), LANDING_BYTES / blockBytes);
    return open("decode", connecting, plan, slots, plan.decodeBudgetBytes());
  }

  /// Connects a party that produces: it holds at most its arena.
  static Mono<PartyConnection> prefill(ClientTransport transport, FlowPlan plan) {
    return prefill(to(transport, plan), plan);
  }

  /// Connects a party that produces for all nodes of a cluster.
  ///
  /// @param seeds any of its nodes
  static Mono<PartyConnection> prefill(List<Endpoint> seeds, LoopResources loops, FlowPlan plan) {
    return prefill(to(seeds, loops, plan), plan);
  }

  private static Mono<PartyConnection> prefill(Connecting connecting, FlowPlan plan) {
    return open("prefill", connecting, plan, plan.prefillSlots(), plan.sliceBytes());
  }

  /// Connects an observer, which only asks for figures.
  static Mono<PartyConnection> observer(ClientTransport transport, FlowPlan plan) {
    return open("observer", to(transport, plan), plan, 1, plan.sliceBytes());
  }

  private static Mono<PartyConnection> open(String name, Connecting connecting, FlowPlan plan, int slots,
      long budgetBytes) {
    return Mono.defer(() -> {
      SlabArena arena = new SlabArena(name, plan.space().layout(), slots, WAITERS);
      ByteBudget budget = new ByteBudget("budget of " + name, budgetBytes, WAITERS);
      StreamTimes times = new StreamTimes();
      KvClientOptions options =
          KvClientOptions.builder().name("replay-" + name).maxSliceBytes(plan.sliceBytes())
              .windowBlocks(plan.windowBlocks()).creditSlices(plan.creditSlices()).streams(times).build();
      return connecting.reach(options, arena, budget)
          .map(reach -> new PartyConnection(plan, reach, arena, budget, times))
          .doOnError(error -> arena.close()).doOnCancel(arena::close);
    });
  }

  public DecodeParty decode(TraceKeys keys, LongSupplier nanoClock) {
    return new Decoder(tier(), plan.shape(), keys, arena, budget.permits(), nanoClock, reach.admits());
  }

  public PrefillParty prefill(TraceKeys keys) {
    return new Prefiller(tier(), plan.shape(), keys, arena);
  }

  /// The node, or all nodes, as a tier.
  public BlockTier tier() {
    return reach.tier();
  }

  /// Arena in which blocks of this party land, or are produced.
  public SlabArena arena() {
    return arena;
  }

  /// Bytes in flight now towards this party.
  Permits budget() {
    return budget.permits();
  }

  /// Figures that the node reports.
  Mono<PartyStat> nodeStat() {
    return reach.stat(plan.space().layout().blockBytes());
  }

  /// How its blocks travelled so far, or would, in words.
  String carriage() {
    return reach.carriage();
  }

  /// Times of its gets and puts.
  Map<String, StreamTimes.Times> times() {
    return times.times();
  }

  /// Completes when the connection is gone.
  Mono<Void> onClose() {
    return reach.onClose();
  }

  /// Drops the connection, then gives the memory back.
  Mono<Void> close() {
    return reach.close().doFinally(end -> arena.close());
  }
}
