package io.penstock.disagg.request;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.LongUnaryOperator;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.scheduler.Scheduler;
import reactor.test.scheduler.VirtualTimeScheduler;

@Timeout(60)
final class TimerWheelTest {
  private static final long TICK = 10_000_000;
  private static final int SLOTS = 16;
  private static final long TURN = SLOTS * TICK;
  /// Timers that one step of the wheel looks at.
  private static final int BATCH = 64;

  private final HandClock clock = new HandClock(0);
  private final TimerWheel wheel = wheel(clock, SLOTS);

  private static TimerWheel wheel(Scheduler clock, int slots) {
    return new TimerWheel(clock, Duration.ofNanos(TICK), slots);
  }

  private static TimerWheel.Timer timer(LongUnaryOperator due) {
    return new TimerWheel.Timer() {
      @Override
      long due(long now) {
        return due.applyAsLong(now);
      }
    };
  }

  private static TimerWheel.Timer task(Runnable work) {
    return timer(now -> {
      work.run();
      return TimerWheel.NEVER;
    });
  }

  private Alarm alarm(long end) {
    Alarm alarm = new Alarm(end);
    wheel.add(alarm, end);
    return alarm;
  }

  private List<Alarm> alarms(int count, long end) {
    return Stream.generate(() -> alarm(end)).limit(count).toList();
  }

  private static void assertFiredOnce(List<Alarm> alarms) {
    assertThat(alarms).allSatisfy(alarm -> assertThat(alarm.fired).hasSize(1));
  }

  // Moments

  @ParameterizedTest
  @ValueSource(longs = {1, TICK - 1, TICK, TICK + 1, TURN - TICK, TURN - 1, TURN, TURN + 1, TURN + TICK, 2 * TURN,
    7 * TURN + 3 * TICK - 1, 1000 * TURN})
  void momentOfAnyDistance_firesAtTheFirstTickThatIsNotBefore(long moment) {
    Alarm alarm = alarm(moment);
    long tick = Math.ceilDiv(moment, TICK) * TICK;
    clock.advance(tick - 1);
    assertThat(alarm.fired).isEmpty();
    clock.advance(1);
    assertThat(alarm.fired).containsExactly(tick);
    assertThat(wheel.size()).isZero();
    clock.advance(3 * TURN);
    assertThat(alarm.looked).as("once").hasSize(1);
  }

  @ParameterizedTest
  @ValueSource(longs = {Long.MIN_VALUE / 2, -1, 0, 5 * TICK})
  void momentThatIsOver_firesWithinATick(long moment) {
    clock.advance(5 * TICK);
    Alarm alarm = alarm(moment);
    clock.advance(0);
    assertThat(alarm.fired).containsExactly(5 * TICK);
  }

  @Test
  void momentThatIsOver_afterItsTickHasPassed_firesAtTheNextTick() {
    alarm(5 * TICK);
    clock.advance(5 * TICK);
    Alarm late = alarm(TICK);
    clock.advance(TICK - 1);
    assertThat(late.fired).isEmpty();
    clock.advance(1);
    assertThat(late.fired).hasSize(1);
  }

  @Test
  void farthestMoment_neverFires_andDisturbsNoOther() {
    Alarm never = alarm(TimerWheel.NEVER - 1);
    Alarm soon = alarm(TICK);
    for (int i = 0; i < 100; i++) {
      clock.advance(TURN);
    }
    assertThat(never.looked).isEmpty();
    assertThat(soon.fired).containsExactly(TURN);
    assertThat(wheel.size()).isEqualTo(1);
  }

  @Test
  void clockThatStartsBelowZero_isLikeAnyOther() {
    HandClock early = new HandClock(-3 * TURN - 7);
    TimerWheel below = wheel(early, SLOTS);
    List<Alarm> alarms = new ArrayList<>();
    for (long moment = -3 * TURN; moment < 3 * TURN; moment += TICK / 2) {
      Alarm alarm = new Alarm(moment);
      alarms.add(alarm);
      below.add(alarm, moment);
    }
    while (early.now(TimeUnit.NANOSECONDS) < 4 * TURN) {
      early.advance(TICK / 3);
    }
    assertFiredOnce(alarms);
    assertThat(alarms).allSatisfy(alarm -> assertThat(alarm.fired.getFirst() - alarm.end)
        .isBetween(0L, TICK + TICK / 3));
  }

  @Test
  void wheelOfOneSlot_keepsTimersOfAllTicksApart() {
    TimerWheel single = wheel(clock, 1);
    List<Alarm> alarms = new ArrayList<>();
    for (int tick = 5; tick >= 1; tick--) {
      Alarm alarm = new Alarm(tick * TICK);
      alarms.add(alarm);
      single.add(alarm, alarm.end);
    }
    for (int tick = 1; tick <= 5; tick++) {
      clock.advance(TICK);
      assertThat(alarms.stream().filter(alarm -> !alarm.fired.isEmpty())).as("tick %d", tick).hasSize(tick);
    }
  }

  @ParameterizedTest
  @CsvSource({"0, 16, tick must be > 0 (was PT0S)", "-1, 16, tick must be > 0 (was PT-0.000000001S)",
    "1, 0, slots must be > 0 (was 0)", "1, -1, slots must be > 0 (was -1)"})
  void wrongArguments_areRefused(long tickNanos, int slots, String message) {
    assertThatThrownBy(() -> new TimerWheel(clock, Duration.ofNanos(tickNanos), slots))
        .isInstanceOf(IllegalArgumentException.class).hasMessage(message);
  }

  // Changes

  @Test
  void addAgain_replacesTheMoment_earlierOrLater() {
    Alarm alarm = new Alarm(0);
    for (long moment : new long[] {9 * TICK, 2 * TICK, 40 * TICK, 3 * TICK}) {
      wheel.add(alarm, moment);
      assertThat(wheel.size()).isEqualTo(1);
    }
    clock.advance(2 * TICK);
    assertThat(alarm.fired).isEmpty();
    clock.advance(TICK);
    clock.advance(50 * TICK);
    assertThat(alarm.fired).containsExactly(3 * TICK);
  }

  @Test
  void add_never_removes() {
    Alarm alarm = alarm(TICK);
    wheel.add(alarm, TimerWheel.NEVER);
    assertThat(wheel.size()).isZero();
    wheel.add(alarm, TimerWheel.NEVER);
    clock.advance(TURN);
    assertThat(alarm.looked).isEmpty();
  }

  @Test
  void remove_ofAnyPlaceInASlot_keepsTheOthers() {
    for (int removed = 0; removed < 3; removed++) {
      long end = clock.now(TimeUnit.NANOSECONDS) + 2 * TICK;
      List<Alarm> alarms = alarms(3, end);
      wheel.remove(alarms.get(removed));
      wheel.remove(alarms.get(removed));
      assertThat(wheel.size()).isEqualTo(2);
      clock.advance(2 * TICK);
      for (int i = 0; i < 3; i++) {
        assertThat(alarms.get(i).fired).as("removed %d, timer %d", removed, i).hasSize(i == removed ? 0 : 1);
      }
    }
  }

  @Test
  void remove_ofATimerThatWasNeverAdded_doesNothing() {
    wheel.remove(new Alarm(0));
    assertThat(wheel.size()).isZero();
  }

  @Test
  void firedTimer_canBeAddedAgain() {
    Alarm alarm = alarm(TICK);
    clock.advance(TICK);
    wheel.add(alarm, 4 * TICK);
    clock.advance(3 * TICK);
    assertThat(alarm.fired).containsExactly(TICK, 4 * TICK);
  }

  // A timer that says how long it still wants

  @Test
  void momentMovedWithoutACall_isAskedForOnceATurnAtMost() {
    Alarm alarm = alarm(TICK);
    alarm.end = 100 * TICK;
    for (int i = 0; i < 100; i++) {
      clock.advance(TICK);
    }
    assertThat(alarm.looked).containsExactly(TICK, 100 * TICK);
    assertThat(alarm.fired).containsExactly(100 * TICK);
  }

  @Test
  void timerThatWantsAMomentThatIsOver_firesAtTheNextTick_notForEver() {
    List<Long> fired = new ArrayList<>();
    wheel.add(timer(now -> {
      fired.add(now);
      return Long.MIN_VALUE;
    }), TICK);
    for (int i = 0; i < 4; i++) {
      clock.advance(TICK);
    }
    assertThat(fired).containsExactly(TICK, 2 * TICK, 3 * TICK, 4 * TICK);
  }

  // Changes while timers fire

  @Test
  void timerThatRemovesALaterOne_keepsItFromFiring() {
    Alarm later = alarm(3 * TICK);
    wheel.add(task(() -> wheel.remove(later)), 2 * TICK);
    clock.advance(2 * TICK);
    clock.advance(TURN);
    assertThat(later.looked).isEmpty();
    assertThat(wheel.size()).isZero();
  }

  @Test
  void timerThatRemovesItself_isNotLostFromTheCount() {
    TimerWheel.Timer[] self = new TimerWheel.Timer[1];
    self[0] = task(() -> wheel.remove(self[0]));
    wheel.add(self[0], TICK);
    clock.advance(TICK);
    assertThat(wheel.size()).isZero();
  }

  @Test
  void timerThatAddsOthers_seesThemFireInLaterTicks() {
    Alarm over = new Alarm(0);
    Alarm next = new Alarm(2 * TICK);
    Alarm far = new Alarm(TURN + TICK);
    wheel.add(task(() -> Stream.of(over, next, far).forEach(alarm -> wheel.add(alarm, alarm.end))), TICK);
    clock.advance(TICK);
    assertThat(over.fired).isEmpty();
    clock.advance(TICK);
    assertThat(over.fired).hasSize(1);
    assertThat(next.fired).hasSize(1);
    clock.advance(TURN - TICK);
    assertThat(far.fired).containsExactly(TURN + TICK);
  }

  @ParameterizedTest
  @ValueSource(ints = {BATCH - 1, BATCH, BATCH + 1, 2 * BATCH, 5 * BATCH + 3})
  void oneTickOfManyTimers_firesEachOnce(int count) {
    List<Alarm> alarms = alarms(count, 3 * TICK);
    List<Alarm> later = alarms(count, 3 * TICK + TURN); // in the same slot
    clock.advance(3 * TICK);
    assertFiredOnce(alarms);
    assertThat(later).allSatisfy(alarm -> assertThat(alarm.looked).isEmpty());
    clock.advance(TURN);
    assertFiredOnce(later);
  }

  /// The wheel gives up its lock after each batch. The timer at which it stopped can move before the next batch.
  @ParameterizedTest
  @ValueSource(longs = {4, 3 + SLOTS, -1})
  void timersThatMoveWhileTheirSlotIsWalked_leaveNoOtherBehind(long to) {
    List<Alarm> alarms = new ArrayList<>();
    for (int i = 0; i < 4 * BATCH; i++) {
      alarms.add(alarm(3 * TICK));
    }
    List<Alarm> moved = List.copyOf(alarms.subList(BATCH, 2 * BATCH)); // slots are walked from the newest
    wheel.add(task(() -> moved.forEach(alarm -> {
      if (alarm.fired.isEmpty()) {
        wheel.add(alarm, to < 0 ? TimerWheel.NEVER : to * TICK);
      }
    })), 3 * TICK);
    clock.advance(3 * TICK);
    alarms.removeAll(moved);
    assertFiredOnce(alarms);
    assertThat(moved).allSatisfy(alarm -> assertThat(alarm.fired).isEmpty());
    clock.advance(2 * TURN);
    assertThat(moved).allSatisfy(alarm -> assertThat(alarm.fired).hasSize(to < 0 ? 0 : 1));
    assertThat(wheel.size()).isZero();
  }

  @Test
  void timersThatFail_keepNoOtherFromFiring() {
    List<Throwable> reported = new ArrayList<>();
    Thread thread = Thread.currentThread();
    Thread.UncaughtExceptionHandler before = thread.getUncaughtExceptionHandler();
    thread.setUncaughtExceptionHandler((where, error) -> reported.add(error));
    List<Alarm> others = new ArrayList<>();
    try {
      for (int i = 0; i < 2 * BATCH; i++) {
        others.add(alarm(TICK));
        int number = i;
        wheel.add(task(() -> {
          if (number % 2 == 0) {
            throw new IllegalStateException("of the test");
          }
          throw new AssertionError("of the test");
        }), TICK);
      }
      others.add(alarm(2 * TICK));
      clock.advance(TICK);
      clock.advance(TICK);
    } finally {
      thread.setUncaughtExceptionHandler(before);
    }
    assertFiredOnce(others);
    assertThat(reported).hasSize(2 * BATCH).hasOnlyElementsOfTypes(IllegalStateException.class, AssertionError.class);
    assertThat(wheel.size()).isZero();
  }

  // The scheduler

  @Test
  void anEmptyWheel_waitsForNothing() {
    VirtualTimeScheduler time = VirtualTimeScheduler.create();
    TimerWheel other = wheel(time, SLOTS);
    other.add(new Alarm(TICK), TICK);
    time.advanceTimeBy(Duration.ofNanos(3 * TICK));
    long tasks = time.getScheduledTaskCount();
    time.advanceTimeBy(Duration.ofNanos(1000 * TICK));
    assertThat(time.getScheduledTaskCount()).isEqualTo(tasks);
  }

  @Test
  void wheelWithTimers_waitsWithOneTask() {
    assertThat(clock.waiting()).isZero();
    for (int tick = 50; tick > 0; tick--) {
      alarm(tick * TICK);
      assertThat(clock.waiting()).isEqualTo(1);
    }
    for (int tick = 1; tick < 50; tick++) {
      clock.advance(TICK);
      assertThat(clock.waiting()).isEqualTo(1);
    }
    clock.advance(TICK);
    assertThat(clock.waiting()).isZero();
  }

  @Test
  void laterTimer_doesNotDisturbTheTaskThatWaits() {
    alarm(2 * TICK);
    int tasks = clock.scheduled();
    for (int tick = 2; tick < 1000; tick++) {
      alarm(tick * TICK);
    }
    assertThat(clock.scheduled()).isEqualTo(tasks);
  }

  @Test
  void clockThatJumpsManyTurns_firesWhatIsDueAndNothingElse() {
    List<Alarm> due = new ArrayList<>();
    List<Alarm> later = new ArrayList<>();
    for (int tick = 1; tick <= 10 * SLOTS; tick++) {
      due.add(alarm(tick * TICK));
      later.add(alarm((10 * SLOTS + tick) * TICK));
    }
    clock.advance(10 * TURN);
    assertFiredOnce(due);
    assertThat(later).allSatisfy(alarm -> assertThat(alarm.looked).isEmpty());
    clock.advance(10 * TURN);
    assertFiredOnce(later);
  }

  /// A wheel that walks every turn of a long pause would look at 10,000 timers 225 million times.
  @Test
  @Timeout(value = 20, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
  void longPause_costsOneTurn() {
    long pause = Duration.ofDays(417).toNanos();
    List<Alarm> alarms = alarms(10_000, pause + TICK);
    Alarm first = alarm(pause);
    clock.advance(pause);
    assertThat(first.fired).hasSize(1);
    clock.advance(TICK);
    assertFiredOnce(alarms);
  }

  // The end

  @Test
  void aDisposedWheel_firesNothing_andForgetsItsTimers() {
    List<Alarm> alarms = new ArrayList<>(alarms(3, TICK));
    alarms.add(alarm(5 * TURN));
    wheel.dispose();
    wheel.dispose();
    assertThat(wheel.isDisposed()).isTrue();
    assertThat(wheel.size()).isZero();
    assertThat(clock.waiting()).isZero();
    alarms.add(alarm(0));
    wheel.remove(alarms.getFirst());
    assertThat(wheel.size()).isZero();
    assertThat(clock.waiting()).isZero();
    clock.advance(50 * TURN);
    assertThat(alarms).allSatisfy(alarm -> assertThat(alarm.looked).isEmpty());
  }

  @Test
  void wheelThatATimerDisposes_firesNoOther_andWaitsForNothing() {
    int[] fired = new int[1];
    for (int i = 0; i < 3 * BATCH; i++) {
      wheel.add(timer(now -> {
        fired[0]++;
        wheel.dispose();
        return now + TICK;
      }), (1 + i % 3) * TICK);
    }
    Alarm later = alarm(4 * TURN);
    clock.advance(3 * TICK);
    assertThat(fired[0]).isEqualTo(1);
    assertThat(clock.waiting()).isZero();
    clock.advance(10 * TURN);
    assertThat(later.looked).isEmpty();
    assertThat(wheel.size()).isZero();
  }
}
