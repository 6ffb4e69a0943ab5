package io.penstock.lab.simulate;

import static java.util.Objects.requireNonNull;

import io.netty.buffer.UnpooledByteBufAllocator;
import io.penstock.block.BlockKey;
import io.penstock.block.EvictionPolicy;
import io.penstock.block.PrefixHasher;
import io.penstock.block.SpaceId;
import io.penstock.lab.simulate.RequestRun.Result;
import io.penstock.lab.simulate.Scenario.PartyPlan;
import io.penstock.lab.simulate.Scenario.RequestPlan;
import io.penstock.lab.simulate.Scenario.SideCallPlan;
import io.penstock.recording.MemoryRecording;
import io.penstock.recording.Recorder;
import io.penstock.wire.simulate.SimulatedTime;
import io.penstock.wire.simulate.SimulationFailedException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;

/// One run: a node, its clients, their requests and faults, in one thread and in virtual time, all drawn from one seed.
///
/// The tier, the server, the clients and RSocket are the real ones. For the time of a run Reactor's default schedulers
/// are the simulation's, in the whole JVM; so run one at a time.
final class Simulation {
  private static final Duration LONGEST_RUN = Duration.ofHours(24);
  /// Longer than any work whose caller has gone.
  private static final Duration REST = Duration.ofSeconds(10);
  /// Longer than the longest stall, and than the silence after which a connection counts as lost.
  private static final Duration CLOSING = Duration.ofMinutes(10);
  /// Bytes that control frames may add to a send queue, beyond the slices of the send window.
  private static final long CONTROL_BYTES = 64 << 10;
  /// Events of a recorded run: more than the longest one has.
  private static final int EVENTS = 1 << 20;

  private final Scenario scenario;
  private final Sabotage sabotage;
  private final Verdict verdict;
  private final SimulatedTime time;
  private final UnpooledByteBufAllocator allocator = new UnpooledByteBufAllocator(true, true);
  private final SimulatedNetwork network;
  private final SimulatedNode node;
  private final SpaceId space;
  private final List<SimulatedParty> decoders = new ArrayList<>();
  private final List<SimulatedParty> prefillers = new ArrayList<>();
  private final List<Result> results = new ArrayList<>();
  private final @Nullable MemoryRecording recording;
  private final @Nullable Recorder recorder;
  private int open;

  private Simulation(Scenario scenario, Sabotage sabotage, boolean records) {
    this.scenario = scenario;
    this.space = scenario.space().id();
    this.sabotage = sabotage;
    this.time = new SimulatedTime(scenario.seed());
    this.recording = records ? MemoryRecording.begin(time::nanos, EVENTS) : null;
    this.recorder = recording == null ? null : recording.recorder();
    this.verdict = new Verdict(scenario.seed(), recorder == null ? broken -> {} : recorder::broken);
    this.network = new SimulatedNetwork(time, allocator, scenario.faults(), verdict);
    this.node = new SimulatedNode(scenario, network, time.scheduler(), verdict, sabotage.tier(), time::nanos,
        recording == null ? null : recording.turns());
  }

  /// Runs `seed` to its end.
  ///
  /// @throws ViolationException if an invariant was broken
  public static SimulationResult run(long seed) {
    return run(ScenarioDraw.of(seed), Sabotage.NONE);
  }

  static SimulationResult run(Scenario scenario, Sabotage sabotage) {
    return run(new Simulation(scenario, sabotage, false));
  }

  /// Runs a scenario again, and records the node's tiers, the parties' flows and the first broken invariant.
  static RecordedRun record(Scenario scenario, Sabotage sabotage) {
    Simulation simulation = new Simulation(scenario, sabotage, true);
    SimulationResult result = null;
    ViolationException violation = null;
    try {
      result = run(simulation);
    } catch (ViolationException e) {
      violation = e;
    }
    return new RecordedRun(result, violation, requireNonNull(simulation.recording).events());
  }

  private static SimulationResult run(Simulation simulation) {
    try (SimulatedTime.CapturedDefaults _ = simulation.time.captureDefaults()) {
      return simulation.run();
    } catch (SimulationFailedException e) {
      simulation.verdict.broken(Invariant.EVERY_STREAM_ENDS, "a step threw " + e.getCause(), e.getCause());
      simulation.verdict.orThrow();
      throw e;
    }
  }

  private SimulationResult run() {
    open();
    boolean over = time.runUntil(() -> stepped() && open == 0, LONGEST_RUN);
    verdict.orThrow();
    verdict.require(over, Invariant.EVERY_STREAM_ENDS, open + " requests or side calls never ended");
    time.advance(REST); // work whose caller has gone comes to its end
    checkDelivered();
    close();
    verdict.orThrow();
    return result();
  }

  private void open() {
    Scheduler scheduler = time.scheduler();
    decoders.addAll(parties("decode", scenario.decoders(), sabotage.extraBudgetBytes()));
    prefillers.addAll(parties("prefill", scenario.prefillers(), 0));
    begin(node.start());
    for (int i = 0; i < decoders.size(); i++) {
      begin(requestsOf(i));
    }
    SideCalls sideCalls = new SideCalls(scenario, scheduler, verdict);
    for (SideCallPlan sideCall : scenario.sideCalls()) {
      begin(sideCalls.run(sideCall, decoders.get(sideCall.decoder()), keys(sideCall.ids())));
    }
    begin(Flux.fromIterable(scenario.faults().restarts())
        .concatMap(wait -> Mono.delay(wait, scheduler).then(node.restart()), 1).then());
  }

  private List<SimulatedParty> parties(String role, List<PartyPlan> plans, long extraBudgetBytes) {
    List<SimulatedParty> parties = new ArrayList<>();
    for (PartyPlan plan : plans) {
      parties
          .add(new SimulatedParty(role + parties.size(), scenario, plan, network, time.scheduler(), extraBudgetBytes));
    }
    return parties;
  }

  /// The requests of one decode party, one after the other.
  private Mono<Void> requestsOf(int decoder) {
    return Flux.fromIterable(scenario.requests()).filter(request -> request.decoder() == decoder)
        .concatMap(this::request, 1).then();
  }

  private Mono<Result> request(RequestPlan plan) {
    RequestRun.Place place =
        new RequestRun.Place(scenario, decoders.get(plan.decoder()), prefillers.get(plan.prefiller()), node,
            time.scheduler(), verdict, recorder);
    return Mono.delay(plan.pause(), time.scheduler())
        .then(Mono.defer(() -> new RequestRun(plan, place, keys(plan.ids())).run()))
        .doOnNext(result -> {
          results.add(result);
          verdict.note(result.toString());
        });
  }

  private List<BlockKey> keys(List<Long> ids) {
    return ids.stream().map(id -> new BlockKey(space, PrefixHasher.ofTraceId(id))).toList();
  }

  private void begin(Mono<?> work) {
    open++;
    work.doFinally(end -> open--).subscribe(value -> {},
        error -> verdict.broken(Invariant.EVERY_STREAM_ENDS, "work ended with " + error, error));
  }

  /// Looks at everything between two steps; true while nothing is wrong.
  private boolean stepped() {
    node.check();
    checkBytesInFlight();
    verdict.orThrow();
    return true;
  }

  private void checkBytesInFlight() {
    if (scenario.faults().corrupts()) {
      return; // a frame whose stream was turned over counts for no side
    }
    long towardsNode = 0;
    for (SimulatedNetwork.Connection connection : network.connections()) {
      towardsNode += connection.up().bytes();
    }
    require(towardsNode, node.budgetBytes(), "the node");
    for (SimulatedParty party : decoders) {
      long towardsParty = 0;
      for (SimulatedNetwork.Connection connection : network.connections()) {
        towardsParty += connection.client().equals(party.name()) ? connection.down().bytes() : 0;
      }
      require(towardsParty, party.budgetBytes(), party.name());
    }
  }

  private void require(long bytes, long budget, String party) {
    if (bytes > budget) {
      verdict.broken(Invariant.BYTES_IN_FLIGHT, bytes + " bytes towards " + party + ", budget " + budget);
    }
  }

  private void checkDelivered() {
    if (!scenario.calm()) {
      return;
    }
    for (Result result : results) {
      verdict.require(result.delivered() && result.passes() == 1, Invariant.UNDISTURBED_DELIVERS, result.toString());
    }
    if (decoders.size() == 1 && scenario.node().policy() == EvictionPolicy.LRU) {
      PlainLru lru = new PlainLru(scenario.node().capacityBlocks());
      results.sort(Comparator.comparingInt(Result::number));
      for (Result result : results) {
        int expected = lru.refer(keys(scenario.requests().get(result.number()).ids()));
        verdict.require(result.hits() == expected, Invariant.PLAIN_LRU, result + ", plain LRU says " + expected);
      }
    }
  }

  private void close() {
    decoders.forEach(SimulatedParty::close);
    prefillers.forEach(SimulatedParty::close);
    time.advance(CLOSING);
    node.checkIdle();
    checkQueues();
    begin(node.stop());
    time.advance(CLOSING);
    node.checkGone();
    decoders.forEach(party -> party.checkGone(verdict));
    prefillers.forEach(party -> party.checkGone(verdict));
    long bytes = allocator.metric().usedDirectMemory() + allocator.metric().usedHeapMemory();
    verdict.require(bytes == 0, Invariant.NOTHING_LEAKED, bytes + " bytes of frames");
  }

  private void checkQueues() {
    for (SimulatedNetwork.Connection connection : network.connections()) {
      for (SimulatedParty party : prefillers) {
        if (connection.client().equals(party.name())) {
          requireQueue(connection.up().peakQueuedBytes(), party.sendWindowBytes(), party.name());
        }
      }
      requireQueue(connection.down().peakQueuedBytes(), node.sendWindowBytes(), "the node");
    }
  }

  /// Headers are no part of the window; with the smallest blocks they are as long as the payload.
  private void requireQueue(long peak, long window, String party) {
    verdict.require(peak <= 2 * window + CONTROL_BYTES, Invariant.QUEUES_BOUNDED,
        party + " had " + peak + " bytes waiting, window " + window);
  }

  private SimulationResult result() {
    int delivered = (int) results.stream().filter(Result::delivered).count();
    int left = (int) results.stream().filter(Result::left).count();
    return new SimulationResult(scenario.seed(), verdict.digest(), results.size(), delivered, left,
        results.size() - delivered - left,
        network.connections().size(), time.nanos(), time.steps());
  }
}
