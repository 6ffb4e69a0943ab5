package io.penstock.node.party;

import io.penstock.block.SlabArena;
import io.penstock.budget.Permits;
import io.penstock.node.link.StreamTimes;
import io.penstock.tier.BlockTier;
import io.penstock.tier.ByteBudget;
import io.penstock.wire.client.KvClient;
import io.penstock.wire.client.KvClientOptions;
import io.penstock.wire.client.RemoteTier;
import io.penstock.wire.client.ServerStat;
import io.penstock.wire.protocol.Carrier;
import io.rsocket.transport.ClientTransport;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.LongSupplier;
import reactor.core.publisher.Mono;

/// One party's own connection, arena and budget.
public final class PartyConnection {
  private static final int LANDING_BYTES = 64 << 20;
  private static final int WAITERS = 4096;

  private final FlowPlan plan;
  private final KvClient client;
  private final SlabArena arena;
  private final ByteBudget budget;
  private final StreamTimes times;

  private PartyConnection(FlowPlan plan, KvClient client, SlabArena arena, ByteBudget budget, StreamTimes times) {
    this.times = times;
    this.plan = plan;
    this.client = client;
    this.arena = arena;
    this.budget = budget;
  }

  /// Connects a party that reads: room to land a whole request or so, bytes under way bounded by its budget.
  static Mono<PartyConnection> decode(ClientTransport transport, FlowPlan plan) {
    int blockBytes = plan.space().layout().blockBytes();
    int slots = Math.max(plan.decodeSlots(), LANDING_BYTES / blockBytes);
    return open("decode", transport, plan, slots, plan.decodeBudgetBytes());
  }

  /// Connects a party that produces: it holds at most its arena.
  static Mono<PartyConnection> prefill(ClientTransport transport, FlowPlan plan) {
    return open("prefill", transport, plan, plan.prefillSlots(), plan.sliceBytes());
  }

  /// Connects an observer, which only asks for figures.
  static Mono<PartyConnection> observer(ClientTransport transport, FlowPlan plan) {
    return open("observer", transport, plan, 1, plan.sliceBytes());
  }

  private static Mono<PartyConnection> open(String name, ClientTransport transport, FlowPlan plan, int slots,
      long budgetBytes) {
    return Mono.defer(() -> {
      SlabArena arena = new SlabArena(name, plan.space().layout(), slots, WAITERS);
      ByteBudget budget = new ByteBudget("budget of " + name, budgetBytes, WAITERS);
      StreamTimes times = new StreamTimes();
      KvClientOptions options =
          KvClientOptions.builder().name("replay-" + name).maxSliceBytes(plan.sliceBytes())
              .windowBlocks(plan.windowBlocks()).creditSlices(plan.creditSlices()).streams(times).build();
      return KvClient.connect(transport, options, plan.space(), arena, budget)
          .map(client -> new PartyConnection(plan, client, arena, budget, times))
          .doOnError(error -> arena.close()).doOnCancel(arena::close);
    });
  }

  public DecodeParty decode(TraceKeys keys, LongSupplier nanoClock) {
    return new Decoder(tier(), plan.shape(), keys, arena, budget.permits(), nanoClock);
  }

  public PrefillParty prefill(TraceKeys keys) {
    return new Prefiller(tier(), plan.shape(), keys, arena);
  }

  /// The node as a tier.
  public BlockTier tier() {
    return new RemoteTier(client, plan.space());
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
    return client.stat().map(this::nodeStat);
  }

  /// Transport of its frames.
  String transport() {
    return client.transport();
  }

  /// Carriers of its blocks so far, or the ones that would be used.
  List<String> carriers() {
    Set<Carrier> in = client.carried().in().keySet();
    return (in.isEmpty() ? Set.of(client.incomingCarrier()) : in).stream().map(Carrier::label).toList();
  }

  /// Times of its gets and puts.
  Map<String, StreamTimes.Times> times() {
    return times.times();
  }

  /// Completes when the connection is gone.
  Mono<Void> onClose() {
    return client.onClose();
  }

  /// Drops the connection, then gives the memory back.
  Mono<Void> close() {
    return client.close().doFinally(end -> arena.close());
  }

  private PartyStat nodeStat(ServerStat stat) {
    int blockBytes = plan.space().layout().blockBytes();
    long leased = stat.stat().claimedBytes() / blockBytes - stat.stat().blocks();
    return new PartyStat(stat.inFlightBytes(), stat.peakInFlightBytes(), stat.budgetBytes(), leased,
        LedgerState.of(stat.stat()));
  }
}
