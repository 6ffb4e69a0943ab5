package io.penstock.wire.credit;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import reactor.core.Disposable;
import reactor.core.scheduler.Scheduler;
import reactor.test.scheduler.VirtualTimeScheduler;

/// One timer for many waits, in virtual time.
final class SharedTimerTest {
  private final VirtualTimeScheduler clock = VirtualTimeScheduler.create();
  private final AtomicInteger scheduled = new AtomicInteger();
  private final AtomicInteger disposed = new AtomicInteger();
  private final List<String> came = new ArrayList<>();
  private final SharedTimer timer = new SharedTimer(new Counting());

  private SharedTimer.Wait after(String name, long millis) {
    return timer.start(() -> came.add(name + " at " + timer.nowMillis()), millis);
  }

  private void pass(long millis) {
    clock.advanceTimeBy(Duration.ofMillis(millis));
  }

  @Test
  void eachWait_isDueOnTime_inAnyOrder() {
    after("late", 300);
    after("early", 100);
    pass(50);
    after("middle", 150);
    pass(1000);
    assertThat(came).containsExactly("early at 100", "middle at 200", "late at 300");
  }

  @Test
  void waitsThatEndEarly_startNoTimer_andAreNotDue() {
    for (int i = 0; i < 1000; i++) {
      SharedTimer.Wait wait = after("ended", 500);
      pass(1);
      wait.cancel();
    }
    assertThat(came).isEmpty();
    assertThat(scheduled).hasValueLessThanOrEqualTo(3);
  }

  @Test
  void waitThatBeginsWhileAnotherIsDue_getsItsOwnTime() {
    timer.start(() -> after("next", 100), 100);
    pass(100);
    assertThat(came).isEmpty();
    pass(100);
    assertThat(came).containsExactly("next at 200");
  }

  @Test
  void cancelOfADueWait_changesNothing() {
    SharedTimer.Wait wait = after("due", 10);
    pass(10);
    wait.cancel();
    pass(100);
    assertThat(came).containsExactly("due at 10");
  }

  @Test
  void closedTimer_stopsWithItsLastWait() {
    SharedTimer.Wait wait = after("last", 100);
    timer.close();
    assertThat(disposed).hasValue(0);
    wait.cancel();
    assertThat(disposed).hasValue(1);
    pass(1000);
    assertThat(came).isEmpty();
  }

  @Test
  void closedTimer_endsWaitsThatAreUnderWay() {
    after("under way", 100);
    timer.close();
    pass(100);
    assertThat(came).containsExactly("under way at 100");
  }

  /// Counts the timers of the clock.
  private final class Counting implements Scheduler {
    @Override
    public Disposable schedule(Runnable task) {
      return clock.schedule(task);
    }

    @Override
    public Disposable schedule(Runnable task, long delay, TimeUnit unit) {
      scheduled.incrementAndGet();
      Disposable one = clock.schedule(task, delay, unit);
      return () -> {
        disposed.incrementAndGet();
        one.dispose();
      };
    }

    @Override
    public Worker createWorker() {
      return clock.createWorker();
    }

    @Override
    public long now(TimeUnit unit) {
      return clock.now(unit);
    }
  }
}
