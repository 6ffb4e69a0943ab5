package io.penstock.system;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.RejectedExecutionException;
import org.junit.jupiter.api.Test;

final class LiveClockTest {
  private static final long TICK = LiveClock.TICK.toNanos();
  private static final long MOST_LATE = LiveClock.MOST_LATE.toNanos();

  private long raw = -5 * TICK; // moments of such clocks may be negative
  private final LiveClock clock = new LiveClock(() -> raw);
  private final long began = clock.nanos();
  private final List<Duration> wakes = new ArrayList<>();

  private void run(int ticks) {
    for (int i = 0; i < ticks; i++) {
      raw += TICK;
      clock.tick();
    }
  }

  private long lived() {
    return clock.nanos() - began;
  }

  @Test
  void aClockThatTicks_isTheUnderlyingOne() {
    run(1000);
    raw += TICK / 3;
    assertThat(lived()).isEqualTo(1000 * TICK + TICK / 3);
  }

  @Test
  void aStandstill_countsABoundedPart_whicheverThreadReadsFirst() {
    run(10);
    raw += Duration.ofHours(1).toNanos();
    assertThat(lived()).as("before the tick that notices").isEqualTo(10 * TICK + MOST_LATE);
    clock.tick();
    assertThat(lived()).as("after it").isEqualTo(10 * TICK + MOST_LATE);
  }

  @Test
  void aStandstill_isTold_onceAndWithItsLength() {
    Runnable end = clock.onWake(wakes::add);
    clock.onWake(late -> {
      throw new IllegalStateException("one listener must not keep others from listening");
    });
    clock.onWake(wakes::add);
    Thread.currentThread().setUncaughtExceptionHandler((thread, failure) -> {});
    raw += TICK + MOST_LATE;
    clock.tick();
    run(20);
    assertThat(wakes).containsExactly(LiveClock.TICK, LiveClock.TICK);
    end.run();
    raw += 10 * MOST_LATE;
    clock.tick();
    assertThat(wakes).hasSize(3);
    Thread.currentThread().setUncaughtExceptionHandler(null);
  }

  @Test
  void theClockIsHeld_untilReadersHaveReadInTurn() {
    Queue<Runnable> loop = new ArrayDeque<>();
    assertThat(clock.reads(loop::add)).isTrue();
    raw += Duration.ofMinutes(1).toNanos();
    clock.tick();
    long held = lived();
    int rounds = 0;
    while (rounds < 3) {
      assertThat(loop).as("one task at a time").hasSize(1);
      run(5);
      assertThat(lived()).as("held while a reader has not read").isEqualTo(held);
      loop.remove().run();
      rounds++;
      run(1);
    }
    assertThat(loop).isEmpty();
    run(10);
    assertThat(lived()).isEqualTo(held + 10 * TICK);
  }

  @Test
  void aReaderThatIsStuck_orGone_holdsTheClockForABoundedTime() {
    clock.reads(task -> {
      throw new RejectedExecutionException("ended");
    });
    raw += Duration.ofMinutes(1).toNanos();
    clock.tick();
    run(3);
    long held = lived();
    run(1);
    assertThat(lived()).isGreaterThan(held);
    clock.reads(task -> {});
    raw += Duration.ofMinutes(1).toNanos();
    clock.tick();
    held = lived();
    run(100);
    assertThat(lived()).isEqualTo(held);
    run(10);
    assertThat(lived()).isGreaterThan(held);
  }

  @Test
  void underASeed_theClockNeverGoesBack_andCountsEachMomentThatItRan() {
    Random random = new Random(31);
    long last = clock.nanos();
    long ran = 0;
    long stood = 0;
    for (int i = 0; i < 20_000; i++) {
      long step = random.nextInt(50) == 0 ? random.nextLong(Duration.ofMinutes(2).toNanos()) : TICK;
      raw += step;
      ran += step == TICK ? step : 0;
      stood += step == TICK ? 0 : 1;
      for (int look = 0; look < 2; look++) {
        long now = clock.nanos();
        assertThat(now - last).isGreaterThanOrEqualTo(0);
        last = now;
        clock.tick();
      }
    }
    assertThat(lived()).isBetween(ran - stood * 10 * TICK, ran + stood * MOST_LATE);
  }
}
