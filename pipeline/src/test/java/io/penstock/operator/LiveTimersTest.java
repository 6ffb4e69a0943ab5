package io.penstock.operator;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.system.LiveClock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Test;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.test.scheduler.VirtualTimeScheduler;

final class LiveTimersTest {
  private static final Duration SECOND = Duration.ofSeconds(1);

  private final VirtualTimeScheduler scheduler = VirtualTimeScheduler.create();
  private final LiveClock clock = new LiveClock(() -> scheduler.now(TimeUnit.NANOSECONDS));
  private final LiveTimers timers = LiveTimers.of(scheduler, clock);
  private final List<String> seen = new ArrayList<>();

  /// Lets the process run.
  private void run(Duration time) {
    for (long i = 0; i < time.dividedBy(LiveClock.TICK); i++) {
      scheduler.advanceTimeBy(LiveClock.TICK);
      clock.tick();
    }
  }

  /// The process stands still: when it goes on, all that was due runs before the clock's tick.
  private void standStill(Duration time) {
    scheduler.advanceTimeBy(time);
  }

  @Test
  void aDelay_passesWhileTheProcessRuns() {
    Disposable unused = timers.schedule(() -> seen.add("due"), 10, TimeUnit.SECONDS);
    run(SECOND.multipliedBy(9));
    standStill(Duration.ofHours(1));
    assertThat(seen).isEmpty();
    run(LiveClock.TICK.multipliedBy(6));
    assertThat(seen).as("the rest of the delay, less what counts of a standstill").isEmpty();
    run(SECOND);
    assertThat(seen).containsExactly("due");
  }

  @Test
  void withoutStandstill_aDelayIsExact_alsoOfAWorker() {
    Disposable one = timers.schedule(() -> seen.add("one"), 500, TimeUnit.MILLISECONDS);
    Disposable two = timers.createWorker().schedule(() -> seen.add("two"), 500, TimeUnit.MILLISECONDS);
    Disposable never = timers.schedule(() -> seen.add("never"), 500, TimeUnit.MILLISECONDS);
    never.dispose();
    run(Duration.ofMillis(400));
    assertThat(seen).isEmpty();
    run(LiveClock.TICK);
    assertThat(seen).containsExactly("one", "two");
    assertThat(one.isDisposed() || two.isDisposed()).isFalse();
    assertThat(never.isDisposed()).isTrue();
  }

  @Test
  void aPeriodicTask_runsOnceForAStandstill() {
    Disposable periodic = timers.schedulePeriodically(() -> seen.add("tick"), 1, 1, TimeUnit.SECONDS);
    run(SECOND.multipliedBy(3));
    assertThat(seen).hasSize(3);
    standStill(Duration.ofHours(1));
    run(SECOND.multipliedBy(5));
    assertThat(seen.size()).isBetween(7, 9);
    periodic.dispose();
    run(SECOND.multipliedBy(5));
    assertThat(seen.size()).isBetween(7, 9);
  }

  @Test
  void aTimeout_doesNotCountAStandstill() {
    Disposable unused = Mono.never().timeout(SECOND.multipliedBy(2), timers)
        .subscribe(any -> {}, failed -> seen.add(failed instanceof TimeoutException ? "late" : "wrong"));
    run(SECOND);
    standStill(Duration.ofSeconds(40));
    assertThat(seen).isEmpty();
    run(SECOND.multipliedBy(2));
    assertThat(seen).containsExactly("late");
  }

  @Test
  void aStandstill_isEmitted_byLiveTimersAlone() {
    Disposable wakes = LiveTimers.wakes(timers).subscribe(late -> seen.add(late.toSeconds() + " s"));
    Flux.merge(LiveTimers.wakes(scheduler)).subscribe(late -> seen.add("wrong"));
    run(SECOND);
    standStill(Duration.ofSeconds(40));
    clock.tick();
    scheduler.advanceTime();
    assertThat(seen).containsExactly("39 s");
    wakes.dispose();
    standStill(Duration.ofSeconds(40));
    clock.tick();
    scheduler.advanceTime();
    assertThat(seen).hasSize(1);
  }
}
