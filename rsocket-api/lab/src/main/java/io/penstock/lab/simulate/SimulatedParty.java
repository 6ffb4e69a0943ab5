package io.penstock.lab.simulate;

import io.penstock.block.SlabArena;
import io.penstock.tier.ByteBudget;
import io.penstock.wire.client.KvClient;
import io.penstock.wire.client.KvClientOptions;
import io.penstock.wire.protocol.Carrier;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;

/// A decode or prefill process: memory, a budget, and a connection that is opened again when it is lost.
final class SimulatedParty {
  /// Longer than anything that a well network can cause: longer than a keep-alive timeout and every slow reader
  /// together.
  static final Duration PATIENCE = Duration.ofSeconds(1_000);
  private static final Duration KEEP_ALIVE = Duration.ofSeconds(20);
  private static final Duration KEEP_ALIVE_TIMEOUT = Duration.ofSeconds(90);

  private final String name;
  private final Scenario scenario;
  private final Scenario.PartyPlan plan;
  private final SimulatedNetwork network;
  private final Scheduler scheduler;
  private final SlabArena arena;
  private final ByteBudget budget;
  private final List<KvClient> made = new ArrayList<>();
  private @Nullable KvClient client;
  private @Nullable Mono<KvClient> connecting;
  private boolean closed;

  /// @param extraBudgetBytes granted beyond the plan, to plant a fault that the run must find
  SimulatedParty(String name, Scenario scenario, Scenario.PartyPlan plan, SimulatedNetwork network, Scheduler scheduler,
      long extraBudgetBytes) {
    this.name = name;
    this.scenario = scenario;
    this.plan = plan;
    this.network = network;
    this.scheduler = scheduler;
    this.arena = new SlabArena(name, scenario.layout(), plan.arenaBlocks(), 1024);
    this.budget = new ByteBudget(name, budgetBytes() + extraBudgetBytes, 1024);
  }

  String name() {
    return name;
  }

  Scenario.PartyPlan plan() {
    return plan;
  }

  SlabArena arena() {
    return arena;
  }

  long budgetBytes() {
    return (long) plan.budgetSlices() * plan.sliceBytes();
  }

  long sendWindowBytes() {
    return 4L * plan.sliceBytes();
  }

  /// The open connection, or a new one; all callers wait for the connection that is being opened.
  Mono<KvClient> client() {
    return Mono.defer(() -> {
      KvClient open = client;
      if (open != null) {
        return Mono.just(open);
      }
      Mono<KvClient> under = connecting;
      if (under == null) {
        under = connect().doFinally(end -> connecting = null).cache();
        connecting = under;
      }
      return under;
    });
  }

  private Mono<KvClient> connect() {
    KvClientOptions options =
        KvClientOptions.builder().name(name).maxSliceBytes(plan.sliceBytes()).windowBlocks(plan.windowBlocks())
            .order(plan.order()).creditSlices(plan.creditSlices()).sendWindowBytes(sendWindowBytes())
            .keepAlive(KEEP_ALIVE, KEEP_ALIVE_TIMEOUT).carriers(Carrier.INLINE).build();
    return KvClient.connect(network.client(name), options, scenario.space(), arena, budget)
        .timeout(PATIENCE, scheduler)
        .doOnNext(this::opened);
  }

  private void opened(KvClient opened) {
    made.add(opened);
    if (closed) {
      opened.close().subscribe();
      return;
    }
    client = opened;
    opened.onClose().subscribe(nothing -> {}, error -> {}, () -> forget(opened));
  }

  @SuppressWarnings("ReferenceEquality") // a connection is only itself
  private void forget(KvClient gone) {
    if (client == gone) {
      client = null;
    }
  }

  /// Drops the connection, as a process that dies.
  void disconnect() {
    KvClient open = client;
    client = null;
    if (open != null) {
      open.close().subscribe();
    }
  }

  /// Drops every connection and makes no other.
  void close() {
    closed = true;
    client = null;
    made.forEach(one -> one.close().subscribe());
  }

  /// Checks at the end that nothing is held.
  void checkGone(Verdict verdict) {
    verdict.require(arena.claimedSlots() == 0, Invariant.NOTHING_LEAKED,
        name + " holds " + arena.claimedSlots() + " slots");
    verdict.require(budget.inUseBytes() == 0 && budget.permits().waiting() == 0, Invariant.NOTHING_LEAKED,
        name + ": " + budget.inUseBytes() + " bytes in use, " + budget.permits().waiting() + " waiting");
    arena.close();
  }
}
