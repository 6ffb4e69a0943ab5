package io.penstock.wire.simulate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;

@Timeout(30)
class SimulatedTimeTest {
  @Test
  void ties_sameSeed_sameOrder_otherSeeds_others() {
    Set<List<Integer>> orders = new HashSet<>();
    for (int seed = 0; seed < 50; seed++) {
      List<Integer> order = tieOrder(seed);
      assertThat(tieOrder(seed)).as("seed %d", seed).isEqualTo(order);
      assertThat(order).containsExactlyInAnyOrder(0, 1, 2, 3, 4, 5);
      orders.add(order);
    }
    assertThat(orders).hasSizeGreaterThan(30);
  }

  private static List<Integer> tieOrder(long seed) {
    SimulatedTime time = new SimulatedTime(seed);
    List<Integer> order = new ArrayList<>();
    for (int i = 0; i < 6; i++) {
      int number = i;
      time.scheduler().createWorker().schedule(() -> order.add(number));
    }
    time.runUntilIdle();
    return order;
  }

  @Test
  void worker_tasksDueTogether_keepTheirOrder() {
    for (int seed = 0; seed < 50; seed++) {
      SimulatedTime time = new SimulatedTime(seed);
      List<Integer> order = new ArrayList<>();
      Scheduler.Worker worker = time.scheduler().createWorker();
      for (int i = 0; i < 10; i++) {
        int number = i;
        worker.schedule(() -> order.add(number), 5, TimeUnit.MILLISECONDS);
        time.scheduler().schedule(() -> {}, 5, TimeUnit.MILLISECONDS);
      }
      time.runUntilIdle();
      assertThat(order).as("seed %d", seed).isSorted().hasSize(10);
    }
  }

  @Test
  void clock_movesOnlyFromTaskToTask() {
    SimulatedTime time = new SimulatedTime(1);
    List<Long> seen = new ArrayList<>();
    time.scheduler().schedule(() -> seen.add(time.nanos()), 3, TimeUnit.SECONDS);
    time.scheduler().schedule(() -> seen.add(time.nanos()), 1, TimeUnit.SECONDS);

    time.runUntilIdle();

    assertThat(seen).containsExactly(1_000_000_000L, 3_000_000_000L);
    assertThat(time.clock().instant().getEpochSecond()).isEqualTo(3);
    assertThat(time.scheduler().now(TimeUnit.MILLISECONDS)).isEqualTo(3_000);
  }

  @Test
  void advance_runsWhatIsDueAndNoMore() {
    SimulatedTime time = new SimulatedTime(1);
    AtomicInteger ticks = new AtomicInteger();
    Disposable interval =
        Flux.interval(Duration.ofSeconds(1), time.scheduler()).subscribe(n -> ticks.incrementAndGet());

    time.advance(Duration.ofMillis(3_500));
    assertThat(ticks).hasValue(3);
    time.runUntilIdle(); // a periodic task alone is idleness
    assertThat(ticks).hasValue(3);
    interval.dispose();
    time.advance(Duration.ofSeconds(10));
    assertThat(ticks).hasValue(3);
  }

  @Test
  void disposed_task_neverRuns() {
    SimulatedTime time = new SimulatedTime(1);
    AtomicInteger ran = new AtomicInteger();
    Disposable now = time.scheduler().schedule(ran::incrementAndGet);
    Scheduler.Worker worker = time.scheduler().createWorker();
    worker.schedule(ran::incrementAndGet, 1, TimeUnit.SECONDS);
    now.dispose();
    worker.dispose();

    time.runUntilIdle();

    assertThat(ran).hasValue(0);
    assertThat(time.nanos()).isZero();
    assertThatThrownBy(() -> worker.schedule(() -> {})).isInstanceOf(RejectedExecutionException.class);
  }

  @Test
  void run_failingTask_namesSeedAndTime() {
    SimulatedTime time = new SimulatedTime(77);
    time.scheduler().schedule(() -> {
      throw new IllegalStateException("no");
    }, 2, TimeUnit.MICROSECONDS);

    assertThatThrownBy(time::runUntilIdle)
        .isInstanceOf(SimulationFailedException.class)
        .hasMessageContaining("seed 77: a task failed at 2000 ns");
  }

  @Test
  void run_inCircles_isTold() {
    SimulatedTime time = new SimulatedTime(5);
    Runnable[] again = new Runnable[1];
    again[0] = () -> time.scheduler().schedule(again[0]);
    again[0].run();

    assertThatThrownBy(() -> time.runUntilIdle(1_000)).hasMessageContaining("seed 5: idle must come within 1000 steps");
  }

  @Test
  void captureDefaults_takesOperatorsThatPickTheirOwnScheduler() {
    SimulatedTime time = new SimulatedTime(1);
    AtomicInteger done = new AtomicInteger();
    try (SimulatedTime.CapturedDefaults captured = time.captureDefaults()) {
      assertThat(captured).isNotNull();
      Mono.delay(Duration.ofHours(1)).subscribe(n -> done.incrementAndGet());
      time.advance(Duration.ofMinutes(59));
      assertThat(done).hasValue(0);
      time.advance(Duration.ofMinutes(1));
      assertThat(done).hasValue(1);
    }
    assertThat(Mono.delay(Duration.ofMillis(1)).block(Duration.ofSeconds(10))).isZero(); // the real ones are back
  }

  @Test
  void random_perPurpose_isStable() {
    assertThat(new SimulatedTime(3).random("a").nextLong()).isEqualTo(new SimulatedTime(3).random("a").nextLong());
    assertThat(new SimulatedTime(3).random("a").nextLong()).isNotEqualTo(new SimulatedTime(3).random("b").nextLong());
    assertThat(new SimulatedTime(3).random("a").nextLong()).isNotEqualTo(new SimulatedTime(4).random("a").nextLong());
  }
}
