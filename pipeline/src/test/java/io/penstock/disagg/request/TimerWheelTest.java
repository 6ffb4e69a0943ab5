package io.penstock.disagg.request;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import reactor.test.scheduler.VirtualTimeScheduler;

final class TimerWheelTest {
  private static final long TICK = Duration.ofMillis(10).toNanos();
  private final VirtualTimeScheduler time = VirtualTimeScheduler.create();
  private final TimerWheel wheel = new TimerWheel(time, Duration.ofNanos(TICK), 16);

  private static final class Alarm extends TimerWheel.Timer {
    long end;
    boolean removed;
    final List<Long> fired = new ArrayList<>();

    Alarm(long end) {
      this.end = end;
    }

    @Override
    long due(long now) {
      if (now < end) {
        return end;
      }
      fired.add(now);
      return TimerWheel.NEVER;
    }
  }

  private long now() {
    return time.now(TimeUnit.NANOSECONDS);
  }

  @Test
  void timersOfAnyDistance_fireOnce_withinATick() {
    for (long seed = 1; seed <= 50; seed++) {
      Random random = new Random(seed);
      List<Alarm> alarms = new ArrayList<>();
      for (int i = 0; i < 300; i++) {
        time.advanceTimeBy(Duration.ofNanos(random.nextInt(3) * TICK / 2));
        Alarm alarm = new Alarm(now() + random.nextLong(random.nextBoolean() ? 5 * TICK : 100 * TICK));
        wheel.add(alarm, alarm.end);
        alarms.add(alarm);
        Alarm other = alarms.get(random.nextInt(alarms.size()));
        if (other.fired.isEmpty()) {
          switch (random.nextInt(3)) {
            case 0 -> {
              wheel.remove(other);
              other.removed = true;
            }
            case 1 -> other.end += random.nextInt(50) * TICK; // renewed without a word to the wheel
            default -> {
            }
          }
        }
      }
      time.advanceTimeBy(Duration.ofNanos(400 * TICK));
      for (Alarm alarm : alarms) {
        assertThat(alarm.fired).as("seed %d", seed).hasSize(alarm.removed ? 0 : 1);
        alarm.fired.forEach(at -> assertThat(at - alarm.end).isBetween(0L, TICK));
      }
      assertThat(wheel.size()).isZero();
    }
  }

  @Test
  void anEmptyWheel_waitsForNothing() {
    wheel.add(new Alarm(now() + TICK), now() + TICK);
    time.advanceTimeBy(Duration.ofNanos(3 * TICK));
    long tasks = time.getScheduledTaskCount();
    time.advanceTimeBy(Duration.ofNanos(1000 * TICK));
    assertThat(time.getScheduledTaskCount()).isEqualTo(tasks);
  }

  @Test
  void aTimerThatThrows_keepsNoOtherFromFiring() {
    Alarm after = new Alarm(now() + TICK);
    List<Throwable> told = new ArrayList<>();
    Thread thread = Thread.currentThread();
    Thread.UncaughtExceptionHandler before = thread.getUncaughtExceptionHandler();
    thread.setUncaughtExceptionHandler((where, error) -> told.add(error));
    try {
      wheel.add(after, after.end);
      wheel.add(new TimerWheel.Timer() {
        @Override
        long due(long now) {
          throw new IllegalStateException("of the test");
        }
      }, after.end);
      time.advanceTimeBy(Duration.ofNanos(3 * TICK));
    } finally {
      thread.setUncaughtExceptionHandler(before);
    }
    assertThat(after.fired).hasSize(1);
    assertThat(told).singleElement().isInstanceOf(IllegalStateException.class);
  }

  @Test
  void aDisposedWheel_firesNothing() {
    Alarm alarm = new Alarm(now() + TICK);
    wheel.add(alarm, alarm.end);
    wheel.dispose();
    wheel.add(new Alarm(now()), now());
    time.advanceTimeBy(Duration.ofNanos(50 * TICK));
    assertThat(alarm.fired).isEmpty();
    assertThat(wheel.isDisposed()).isTrue();
  }
}
