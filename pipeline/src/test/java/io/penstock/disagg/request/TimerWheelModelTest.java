package io.penstock.disagg.request;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.testkit.Race;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import reactor.core.scheduler.Scheduler;

/// The timer wheel under any operations, from one thread and from several.
@Timeout(60)
final class TimerWheelModelTest {
  private static final long TICK = 10_000_000;
  private static final int SLOTS = 16;
  private static final long TURN = SLOTS * TICK;

  private static TimerWheel wheel(Scheduler clock, int slots) {
    return new TimerWheel(clock, Duration.ofNanos(TICK), slots);
  }

  /// The model: a timer fires never before its moment, and no later than a tick after it and after it was added.
  @ParameterizedTest
  @CsvSource({"1, 1", "2, 7", "3, 16", "4, 64", "5, 3"})
  void operationsAtRandom_fireAsThePromiseSays(int seed, int slots) {
    Random random = new Random(seed);
    HandClock time = new HandClock(random.nextLong(-TURN, TURN));
    TimerWheel any = wheel(time, slots);
    Alarm[] alarms = new Alarm[200];
    long[] added = new long[alarms.length];
    boolean[] waits = new boolean[alarms.length];
    Arrays.setAll(alarms, i -> new Alarm(0));
    for (int step = 0; step < 20_000; step++) {
      int i = random.nextInt(alarms.length);
      long now = time.now(TimeUnit.NANOSECONDS);
      switch (random.nextInt(6)) {
        case 0, 1 -> {
          alarms[i].end = now + random.nextLong(-TICK, random.nextBoolean() ? 4 * TICK : 40 * TICK);
          added[i] = now;
          waits[i] = true;
          any.add(alarms[i], alarms[i].end);
        }
        case 2 -> {
          any.remove(alarms[i]);
          waits[i] = false;
        }
        case 3 -> {
          alarms[i].end += random.nextLong(20 * TICK);
          added[i] = now; // the wheel learns it a tick after the former moment, at most
        }
        default -> time.advance(random.nextInt(50) == 0 ? random.nextLong(100 * TICK) : random.nextLong(TICK));
      }
      check(seed, step, time.now(TimeUnit.NANOSECONDS), alarms, added, waits);
      int expected = 0;
      for (boolean each : waits) {
        expected += each ? 1 : 0;
      }
      assertThat(any.size()).as("seed %d, step %d", seed, step).isEqualTo(expected);
      assertThat(time.waiting()).as("seed %d, step %d", seed, step).isBetween(expected == 0 ? 0 : 1, 1);
    }
  }

  private static void check(int seed, int step, long now, Alarm[] alarms, long[] added, boolean[] waits) {
    for (int i = 0; i < alarms.length; i++) {
      boolean fired = !alarms[i].fired.isEmpty();
      boolean mayFire = waits[i] && alarms[i].end <= now;
      boolean mustFire = waits[i] && Math.max(alarms[i].end, added[i]) + TICK <= now;
      if (fired ? !mayFire || alarms[i].fired.size() > 1 : mustFire) {
        throw new AssertionError(
            "seed %d, step %d: timer %d must fire once at %d (was %s, now %d)".formatted(seed, step,
                i, alarms[i].end, alarms[i].fired, now));
      }
      if (fired) {
        waits[i] = false;
        alarms[i].fired.clear();
      }
    }
  }

  /// Two threads add and remove timers of their own while a third moves the clock.
  @Test
  void timersOfManyThreads_fireOnceOrAreRemoved() {
    int rounds = 100;
    try (Race race = new Race(3)) {
      for (int round = 0; round < rounds; round++) {
        HandClock time = new HandClock(0);
        TimerWheel shared = wheel(time, SLOTS);
        List<Alarm> kept = new ArrayList<>();
        List<Alarm> removed = new ArrayList<>();
        for (int i = 0; i < 200; i++) {
          (i % 4 == 0 ? removed : kept).add(new Alarm(i % 50 * TICK));
        }
        race.run(() -> kept.forEach(alarm -> shared.add(alarm, alarm.end)), () -> removed.forEach(alarm -> {
          shared.add(alarm, alarm.end);
          shared.remove(alarm);
        }), () -> {
          for (int i = 0; i < 100; i++) {
            time.advance(TICK / 2);
          }
        });
        time.advance(TURN * 10);
        time.advance(TICK);
        for (Alarm alarm : kept) {
          assertThat(alarm.fired).as("round %d", round).hasSize(1);
          assertThat(alarm.fired.getFirst()).as("round %d", round).isGreaterThanOrEqualTo(alarm.end);
        }
        assertThat(removed).as("round %d", round).allSatisfy(alarm -> assertThat(alarm.fired).hasSizeBetween(0, 1));
        assertThat(shared.size()).as("round %d", round).isZero();
      }
    }
  }
}
