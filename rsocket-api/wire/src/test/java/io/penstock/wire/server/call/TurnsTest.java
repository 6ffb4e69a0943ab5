package io.penstock.wire.server.call;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.RejectedExecutionException;
import org.junit.jupiter.api.Test;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/// Heavy requests of several connections on one thread.
final class TurnsTest {
  private final Queue<Runnable> tasks = new ArrayDeque<>();
  private final Turns turns = new Turns(Schedulers.fromExecutor(tasks::add));
  private final List<String> ran = new ArrayList<>();

  /// The thread.
  private void runAll() {
    for (Runnable task = tasks.poll(); task != null; task = tasks.poll()) {
      task.run();
    }
  }

  private void run(Scheduler connection, String name, int count) {
    for (int i = 1; i <= count; i++) {
      String request = name + i;
      connection.schedule(() -> ran.add(request));
    }
  }

  @Test
  void requestOfOneConnection_waitsForOneOfEachOther_howeverManyThereAre() {
    run(turns.ofConnection(), "a", 4);
    run(turns.ofConnection(), "b", 2);
    run(turns.ofConnection(), "c", 1);
    runAll();
    assertThat(ran).containsExactly("a1", "b1", "c1", "a2", "b2", "a3", "a4");
  }

  @Test
  void stepsOfOneRequest_letOthersHaveTheirTurns() {
    Scheduler greedy = turns.ofConnection();
    Flux.range(1, 3).concatMap(step -> Mono.just("a" + step).subscribeOn(greedy), 1).subscribeOn(greedy)
        .subscribe(ran::add);
    run(turns.ofConnection(), "b", 2);
    runAll();
    assertThat(ran).containsExactly("b1", "a1", "b2", "a2", "a3");
  }

  @Test
  void requestThatIsOver_isSkipped_andOneThatFailsKeepsNoOther() {
    Scheduler connection = turns.ofConnection();
    Disposable over = connection.schedule(() -> ran.add("over"));
    Mono.fromRunnable(() -> ran.add("cancelled")).subscribeOn(connection).subscribe().dispose();
    connection.schedule(() -> {
      throw new IllegalStateException("of one request");
    });
    run(connection, "a", 1);
    over.dispose();
    runAll(); // the scheduler reports the failure
    assertThat(ran).containsExactly("a1");
  }

  @Test
  void requestsThatAreOver_leaveTheQueue_andOthersKeepTheirPlaces() {
    Scheduler one = turns.ofConnection();
    Scheduler two = turns.ofConnection();
    for (int i = 0; i < 1_000; i++) {
      one.schedule(() -> ran.add("over")).dispose();
      Mono.fromRunnable(() -> ran.add("cancelled")).subscribeOn(two).subscribe().dispose();
    }
    assertThat(turns.size()).isZero();
    run(one, "a", 1);
    Disposable over = one.schedule(() -> ran.add("over"));
    run(two, "b", 1);
    run(one, "c", 1);
    over.dispose();
    over.dispose();
    assertThat(turns.size()).isEqualTo(3);
    runAll();
    assertThat(ran).containsExactly("a1", "b1", "c1");
    assertThat(turns.size()).isZero();
  }

  @Test
  void immediateWorker_runsManySteps_withoutADeepStack() {
    Scheduler connection = new Turns(Schedulers.immediate()).ofConnection();
    Long steps = Flux.range(0, 100_000).concatMap(step -> Mono.just(step).subscribeOn(connection), 1)
        .subscribeOn(connection).count().block();
    assertThat(steps).isEqualTo(100_000);
  }

  @Test
  void workerThatIsGone_refuses_andKeepsNothing() {
    Scheduler single = Schedulers.newSingle("gone");
    single.dispose();
    Scheduler connection = new Turns(single).ofConnection();
    for (int i = 0; i < 2; i++) {
      assertThatThrownBy(() -> connection.schedule(() -> ran.add("late")))
          .isInstanceOf(RejectedExecutionException.class);
    }
    assertThat(ran).isEmpty();
  }
}
