package io.penstock.disagg;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.block.BlockLayout;
import io.penstock.block.Plane.ElementType;
import io.penstock.disagg.KvConnector.Finished;
import io.penstock.disagg.KvConnector.Matched;
import io.penstock.disagg.KvConnector.Results;
import io.penstock.disagg.KvConnector.SchedulerSide;
import io.penstock.disagg.KvConnector.Task;
import io.penstock.disagg.plan.KvRequest;
import io.penstock.disagg.plan.Manifest;
import io.penstock.disagg.plan.Parallelism;
import io.penstock.disagg.plan.Planner;
import io.penstock.disagg.plan.Rank;
import io.penstock.disagg.plan.TransferPlan;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;
import reactor.test.scheduler.VirtualTimeScheduler;

/// Both sides of a connector, with ranks of a planner, as an engine calls them.
final class KvConnectorTest {
  private static final int PREFILL = 4;
  private static final int DECODE = 2;
  private static final BlockLayout LAYOUT = BlockLayout.attention(2, 16, 4, 8, ElementType.BF16);

  private final VirtualTimeScheduler time = VirtualTimeScheduler.create();
  private final Manifest prefill = Manifest.of("m", LAYOUT, Parallelism.ofTp(PREFILL));
  private final Manifest decode = Manifest.of("m", LAYOUT, Parallelism.ofTp(DECODE));
  private final List<PrefillConnector.Worker> senders = new ArrayList<>();
  private final List<PrefillRequests> kept = new ArrayList<>();
  private final List<DecodeConnector.Worker> receivers = new ArrayList<>();
  private final SchedulerSide prefillSide = PrefillConnector.scheduler(PREFILL);
  private final SchedulerSide decodeSide = DecodeConnector.scheduler(DECODE, request -> request.startsWith("r"));
  private int freed;

  KvConnectorTest() {
    for (int rank = 0; rank < PREFILL; rank++) {
      PrefillConnector.Worker worker = PrefillConnector.worker(
          request -> () -> Mono.fromRunnable(() -> freed++), (request, layer) -> {});
      PrefillRequests requests = new PrefillRequests(LifecycleOptions.defaults(), worker, time);
      kept.add(requests);
      senders.add(worker.with(requests));
    }
    for (int rank = 0; rank < DECODE; rank++) {
      Rank own = decode.parallelism().rank(rank);
      DecodeRequests requests = new DecodeRequests(PlannedOrder.rankId("decode", decode.parallelism(), 0, own).since(1),
          LifecycleOptions.defaults(), (to, signal) -> kept.get(to.rank().rank()).accept(signal),
          LifecycleListener.noop(), time, new Random(1));
      receivers.add(DecodeConnector.worker(requests, task -> order(task, own)));
    }
  }

  private ReceiveOrder order(Task task, Rank own) {
    TransferPlan plan = new Planner(prefill, decode)
        .plan(new KvRequest(task.request(), task.promptTokens(), task.cachedTokens()));
    return PlannedOrder.of(plan, own,
        source -> PlannedOrder.rankId("prefill", prefill.parallelism(), 0, source).since(1),
        (source, transfers) -> ticket -> Mono.delay(Duration.ofMillis(5), time).then(),
        new PlannedOrder.Terms(HeldBlocks.none(), false, FailurePolicy.fail(), Duration.ofMinutes(1)));
  }

  private void prefill(String request) {
    assertThat(prefillSide.matched(request, 40, 0)).isEqualTo(Matched.NONE);
    prefillSide.allocated(request, Matched.NONE);
    assertThat(prefillSide.finished(request)).isTrue();
    List<Task> tasks = prefillSide.step();
    senders.forEach(sender -> sender.begin(tasks));
  }

  private List<Finished> sent() {
    List<Finished> finished = new ArrayList<>();
    for (int rank = 0; rank < PREFILL; rank++) {
      finished.addAll(prefillSide.update(rank, senders.get(rank).results()));
    }
    return finished;
  }

  private List<Finished> received() {
    List<Finished> finished = new ArrayList<>();
    for (int rank = 0; rank < DECODE; rank++) {
      finished.addAll(decodeSide.update(rank, receivers.get(rank).results()));
    }
    return finished;
  }

  private Matched decode(String request, int computed) {
    Matched matched = decodeSide.matched(request, 40, computed);
    decodeSide.allocated(request, matched);
    decodeSide.allocated(request, matched); // scheduled again: there is one transfer
    List<Task> tasks = decodeSide.step();
    receivers.forEach(receiver -> receiver.begin(tasks));
    return matched;
  }

  @Test
  void blocksComeFromAllSenders_andAllRanksAreReleased() {
    prefill("r1");
    assertThat(decode("r1", 16)).isEqualTo(new Matched(24, true));
    assertThat(receivers).allSatisfy(receiver -> assertThat(receiver.completionsExpected("r1")).isEqualTo(2));
    boolean[] loaded = new boolean[1];
    receivers.getFirst().loadLayer(1).subscribe(nothing -> {}, error -> {}, () -> loaded[0] = true);
    assertThat(received()).isEmpty();
    assertThat(loaded[0]).isFalse();
    time.advanceTimeBy(Duration.ofMillis(10));
    assertThat(loaded[0]).isTrue();
    assertThat(received()).singleElement().extracting(Finished::state, end -> end.received().size())
        .containsExactly(RequestState.SUCCESS, DECODE);
    assertThat(sent()).singleElement().extracting(Finished::kind).isEqualTo(Finished.Kind.SENT);
    assertThat(freed).isEqualTo(PREFILL);
    assertThat(receivers.getFirst().completionsExpected("r1")).isZero();
  }

  @Test
  void aFullHit_releasesPrefill_andIsNotReported() {
    prefill("r2");
    assertThat(decode("r2", 40)).isEqualTo(Matched.NONE);
    assertThat(received()).isEmpty();
    assertThat(sent()).hasSize(1);
    assertThat(freed).isEqualTo(PREFILL);
  }

  @Test
  void aRequestWithoutPrefill_isNotMatched() {
    assertThat(decode("local", 0)).isEqualTo(Matched.NONE);
    assertThat(decodeSide.finished("local")).isFalse();
    assertThat(receivers.getFirst().results().received()).isEmpty();
  }

  @Test
  void aCancelAtDecode_releasesPrefill() {
    prefill("r3");
    decode("r3", 0);
    receivers.forEach(receiver -> receiver.cancel("r3"));
    time.advanceTimeBy(Duration.ofSeconds(1));
    assertThat(sent()).hasSize(1);
    assertThat(freed).isEqualTo(PREFILL);
    boolean[] saved = new boolean[1];
    senders.getFirst().waitForSave().subscribe(nothing -> {}, error -> {}, () -> saved[0] = true);
    assertThat(saved[0]).isTrue();
  }

  @Test
  void aRequestThatTheEngineIsDoneWith_isAwaitedNoMore() {
    decode("r4", 0);
    time.advanceTimeBy(Duration.ofMillis(10));
    assertThat(decodeSide.update(0, receivers.get(0).results())).isEmpty();
    receivers.get(1).results(); // is lost with its process
    assertThat(decodeSide.finished("r4")).isFalse();
    decode("r4", 0);
    time.advanceTimeBy(Duration.ofMillis(10));
    assertThat(decodeSide.update(1, receivers.get(1).results())).as("one of two ranks").isEmpty();
    assertThat(decodeSide.update(0, receivers.get(0).results())).singleElement()
        .extracting(end -> end.received().size()).isEqualTo(DECODE);
  }

  @Test
  void aRequestThatIsBeingReceived_isRefusedAtOnce_andGoesOn() {
    decode("r5", 0);
    DecodeConnector.Worker worker = receivers.getFirst();
    worker.begin(List.of(new Task(Task.Kind.RECEIVE, "r5", 40, 0)));
    assertThat(worker.results().received()).singleElement().extracting(Received::ending, end -> end.blocks().invalid(0))
        .containsExactly(Ending.FAILED, List.of(0, 1, 2));
    assertThat(worker.completionsExpected("r5")).isEqualTo(2);
    time.advanceTimeBy(Duration.ofMillis(10));
    assertThat(worker.results().received()).singleElement().extracting(Received::ending).isEqualTo(Ending.READY);
    boolean[] loaded = new boolean[1];
    worker.loadLayer(0).subscribe(nothing -> {}, error -> {}, () -> loaded[0] = true);
    assertThat(loaded[0]).isTrue();
  }

  @Test
  void aRequestThatIsKept_isRefused_andItsReadersAreStillAwaited() {
    prefill("r6");
    boolean[] saved = new boolean[1];
    PrefillConnector.Worker worker = senders.getFirst();
    worker.waitForSave().subscribe(nothing -> {}, error -> {}, () -> saved[0] = true);
    List<Task> again = List.of(new Task(Task.Kind.KEEP, "r6", 0, 0));
    assertThatThrownBy(() -> worker.begin(again)).isInstanceOf(IllegalArgumentException.class);
    decode("r6", 40);
    assertThat(saved[0]).isTrue();
    assertThatThrownBy(() -> worker.begin(again)).isInstanceOf(IllegalArgumentException.class);
    boolean[] nothingWaits = new boolean[1];
    worker.waitForSave().subscribe(nothing -> {}, error -> {}, () -> nothingWaits[0] = true);
    assertThat(nothingWaits[0]).isTrue();
  }

  @Test
  void anAggregator_countsDistinctRanks_byTheCountOfTheRequest() {
    ResultAggregator results = new ResultAggregator(4);
    results.expect(Finished.Kind.SENT, "a");
    results.expect(Finished.Kind.SENT, "b");
    assertThat(results.add(0, sent(Set.of("a", "b"), Map.of("b", 2)))).isEmpty();
    assertThat(results.add(0, sent(Set.of("a", "b"), Map.of()))).isEmpty();
    assertThat(results.add(1, sent(Set.of("a", "b"), Map.of()))).extracting(Finished::request).containsExactly("b");
    results.add(2, sent(Set.of("a"), Map.of()));
    assertThat(results.add(3, sent(Set.of("a", "b"), Map.of()))).extracting(Finished::request).containsExactly("a");
    assertThat(results.add(3, sent(Set.of("a"), Map.of()))).isEmpty();
    assertThat(results.dropped()).isEqualTo(4);
    assertThat(results.awaited()).isZero();
  }

  @Test
  void ranksThatSayDifferentNumbers_neverEndARequestEarly() {
    ResultAggregator results = new ResultAggregator(4);
    results.expect(Finished.Kind.SENT, "r");
    assertThat(results.add(0, sent(Set.of("r"), Map.of("r", 3)))).isEmpty();
    assertThat(results.add(1, sent(Set.of("r"), Map.of("r", 2)))).as("two of three").isEmpty();
    assertThat(results.add(2, sent(Set.of("r"), Map.of()))).hasSize(1);
    results.expect(Finished.Kind.SENT, "s");
    assertThat(results.add(0, sent(Set.of("s"), Map.of()))).isEmpty();
    assertThat(results.add(1, sent(Set.of(), Map.of("s", 1)))).as("a correction ends what all have reported")
        .hasSize(1);
    assertThatThrownBy(() -> results.add(0, sent(Set.of(), Map.of("s", 0)))).hasMessageContaining("expected");
  }

  private static Results sent(Set<String> requests, Map<String, Integer> expected) {
    return new Results(requests, List.of(), expected);
  }
}
