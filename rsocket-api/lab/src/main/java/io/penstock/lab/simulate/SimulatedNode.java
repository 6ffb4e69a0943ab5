package io.penstock.lab.simulate;

import io.penstock.block.BlockKey;
import io.penstock.block.BlockLayout;
import io.penstock.block.BlockScope;
import io.penstock.block.GranuleRange;
import io.penstock.block.SlabArena.ChunkSource;
import io.penstock.node.content.KvPattern;
import io.penstock.node.setting.Capacity;
import io.penstock.node.tiers.HostTiers;
import io.penstock.node.tiers.TierPlan;
import io.penstock.recording.Turns;
import io.penstock.tier.BlockTier;
import io.penstock.tier.ByteBudget;
import io.penstock.tier.KnownBlocks;
import io.penstock.tier.LeasedBlock;
import io.penstock.tier.Medium;
import io.penstock.tier.OnMiss;
import io.penstock.tier.Receipt;
import io.penstock.tier.TierEvent;
import io.penstock.tier.spi.TierInputs;
import io.penstock.wire.protocol.Limits;
import io.penstock.wire.server.KvServer;
import io.penstock.wire.server.KvServerOptions;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.LongSupplier;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;

/// The node under test. Each restart makes a new tier, which is compared with a model.
final class SimulatedNode {
  private static final int MAX_WAITERS = 1024;

  /// One life of the node, from start to stop.
  private static final class Life {
    final HostTiers host;
    final WatchedTier tier;
    final ByteBudget budget;
    @Nullable KvServer server;

    Life(HostTiers host, WatchedTier tier, ByteBudget budget) {
      this.host = host;
      this.tier = tier;
      this.budget = budget;
    }
  }

  private final Scenario scenario;
  private final SimulatedNetwork network;
  private final Scheduler scheduler;
  private final Verdict verdict;
  private final UnaryOperator<BlockTier> sabotage;
  private final LongSupplier nanos;
  private final @Nullable Turns recording;
  private final List<Life> lives = new ArrayList<>();

  /// @param sabotage wraps the tier, to plant a fault that the run must find
  /// @param nanos clock of the tiers
  /// @param recording of all lives of the node, each a tier of its own; null for none
  SimulatedNode(Scenario scenario, SimulatedNetwork network, Scheduler scheduler, Verdict verdict,
      UnaryOperator<BlockTier> sabotage, LongSupplier nanos, @Nullable Turns recording) {
    this.scenario = scenario;
    this.network = network;
    this.scheduler = scheduler;
    this.verdict = verdict;
    this.sabotage = sabotage;
    this.nanos = nanos;
    this.recording = recording;
  }

  /// Starts a new life with an empty tier.
  Mono<Void> start() {
    return Mono.defer(() -> {
      Life life = newLife();
      lives.add(life);
      return KvServer.bind(network.server(), life.tier, serverOptions(), life.budget, scheduler)
          .doOnNext(server -> life.server = server).then();
    });
  }

  private Life newLife() {
    Scenario.NodePlan plan = scenario.node();
    HostTiers host = open(plan);
    TierModel model = new TierModel(plan.policy(), plan.capacityBlocks(), new TierEvent.Level("dram", Medium.HOST));
    ByteBudget budget = new ByteBudget("node", (1L + plan.budgetSlices()) * plan.sliceBytes(), MAX_WAITERS);
    return new Life(host, new WatchedTier(sabotage.apply(host.tier()), model, verdict), budget);
  }

  private HostTiers open(Scenario.NodePlan plan) {
    TierPlan tier = TierPlan.dram(scenario.space(), Capacity.ofBlocks(plan.capacityBlocks()))
        .withReserveBlocks(plan.reserveBlocks()).withPolicy(plan.policy()).withEventsKept(plan.eventLogSize());
    TierInputs inputs = TierInputs.of(nanos, ChunkSource.ofSystem());
    Turns turns = recording;
    return turns == null
        ? HostTiers.open(tier, plan.verifyReads(), inputs)
        : HostTiers.record(tier, plan.verifyReads(), inputs, turns, lives.size());
  }

  private KvServerOptions serverOptions() {
    Scenario.NodePlan plan = scenario.node();
    return KvServerOptions.defaults().withLimits(new Limits(plan.sliceBytes(), plan.windowBlocks(), 1024))
        .withSendWindowBytes(sendWindowBytes()).withWindowsAhead(plan.windowsAhead())
        .withAwaitTimeout(plan.awaitTimeout());
  }

  long sendWindowBytes() {
    return 4L * scenario.node().sliceBytes();
  }

  /// Ends the present life: drops connections and memory at any moment.
  Mono<Void> stop() {
    return Mono.defer(() -> {
      Life life = lives.getLast();
      Mono<Void> closed = life.server == null ? Mono.empty() : life.server.close();
      return life.tier.close().then(closed);
    });
  }

  Mono<Void> restart() {
    return stop().then(start());
  }

  /// Checks between two steps that the events so far agree with the model.
  void check() {
    lives.getLast().tier.checkEvents();
  }

  long budgetBytes() {
    return lives.getLast().budget.capacityBytes();
  }

  /// True if some life of the node vouches for `receipt`.
  boolean vouchesFor(Receipt receipt) {
    return lives.stream().anyMatch(life -> life.tier.vouchesFor(receipt));
  }

  /// Checks, when all leases and streams are over, that only visible blocks are held, and that they are whole.
  void checkIdle() {
    WatchedTier tier = lives.getLast().tier;
    tier.checkEvents();
    verdict.require(tier.model().written().isEmpty(), Invariant.NOTHING_LEAKED,
        "still being written: " + tier.model().written());
    checkFold(tier);
    checkWhole(tier);
    verdict.require(lives.getLast().host.stack().arena().claimedSlots() == tier.model().visible().size(),
        Invariant.NOTHING_LEAKED,
        lives.getLast().host.stack().arena().claimedSlots() + " slots claimed for " + tier.model().visible().size()
            + " visible blocks");
    checkLentBytes();
  }

  /// Checks after [#stop()] that nothing is held.
  void checkGone() {
    for (Life life : lives) {
      long slots = life.host.stack().arena().claimedSlots();
      verdict.require(slots == 0, Invariant.NOTHING_LEAKED, slots + " slots of a closed tier");
    }
    checkLentBytes();
  }

  private void checkLentBytes() {
    for (Life life : lives) {
      long inUse = life.budget.inUseBytes();
      int waiting = life.budget.permits().waiting();
      verdict.require(inUse == 0 && waiting == 0, Invariant.NOTHING_LEAKED,
          "budget: " + inUse + " bytes in use, " + waiting + " waiting");
      verdict.require(life.budget.peakBytes() <= life.budget.capacityBytes(), Invariant.BYTES_IN_FLIGHT,
          "peak of the budget");
    }
  }

  private void checkFold(WatchedTier tier) {
    KnownBlocks folded = new KnownBlocks();
    long sequence = 0;
    for (TierEvent event : tier.events()) {
      verdict.require(event.sequence() == ++sequence, Invariant.EVENTS_WHOLE, "event " + sequence + " was " + event);
      boolean whole = switch (event) {
        case TierEvent.Stored stored -> !folded.isVisible(stored.key());
        case TierEvent.Evicted evicted -> folded.levels(evicted.key()).equals(evicted.levels());
        case TierEvent.Removed removed -> folded.levels(removed.key()).equals(removed.levels());
        case TierEvent.Lost lost -> folded.levels(lost.key()).equals(lost.levels());
        default -> false;
      };
      verdict.require(whole, Invariant.EVENTS_WHOLE, event + " does not follow from what was before");
      folded.apply(event);
    }
    checkKnown("events", folded, tier);
    KnownBlocks snapshot = new KnownBlocks();
    tier.follow().takeUntil(TierEvent.SnapshotEnded.class::isInstance).subscribe(snapshot::apply);
    checkKnown("snapshot", snapshot, tier);
    verdict.require(snapshot.isComplete(), Invariant.EVENTS_WHOLE, "the snapshot did not end");
  }

  private void checkKnown(String by, KnownBlocks known, WatchedTier tier) {
    verdict.require(known.visible().equals(Set.copyOf(tier.model().visible())), Invariant.EVENTS_WHOLE,
        known.visible().size() + " blocks by " + by + ", " + tier.model().visible().size() + " by the model");
  }

  private void checkWhole(WatchedTier tier) {
    List<BlockKey> keys = tier.model().visible();
    List<BlockKey> seen = new ArrayList<>();
    try (BlockScope scope = new BlockScope()) {
      tier.lease(keys, OnMiss.SKIP, scope).flatMapMany(lease -> lease.windows(16, scope)).subscribe(
          window -> window.forEach(leased -> seen.add(compared(leased))),
          error -> verdict.broken(Invariant.NO_HALF_BLOCK, "reading what is visible failed", error));
    }
    verdict.require(seen.equals(keys), Invariant.EVENTS_WHOLE,
        seen.size() + " of " + keys.size() + " visible blocks can be read");
  }

  private BlockKey compared(LeasedBlock leased) {
    BlockLayout layout = scenario.layout();
    GranuleRange all = GranuleRange.all(layout);
    try (var block = leased.block(); var span = block.span(all)) {
      int differs = span.read(memory -> KvPattern.mismatch(block.key(), layout, all, memory));
      verdict.require(differs < 0, Invariant.NO_HALF_BLOCK, block.key() + " differs at byte " + differs);
      return block.key();
    }
  }
}
