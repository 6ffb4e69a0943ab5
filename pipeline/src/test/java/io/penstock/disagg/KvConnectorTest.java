package io.penstock.disagg;

import static org.assertj.core.api.Assertions.assertThat;

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

  private static Results sent(Set<String> requests, Map<String, Integer> expected) {
    return new Results(requests, List.of(), expected);
  }
}
