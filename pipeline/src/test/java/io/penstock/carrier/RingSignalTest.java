package io.penstock.carrier;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/// How often a side of a ring spins and sleeps, in a time of its own.
final class RingSignalTest {
  private static final long SPIN_NANOS = 50_000;
  private static final long MOST_NANOS = RingSignal.mostNanos();
  /// Time that one instant of spinning takes.
  private static final long INSTANT_NANOS = 10;

  private final MemorySegment ours = Arena.ofAuto().allocate(RingLayout.ENTRIES, 64);
  private final MemorySegment theirs = Arena.ofAuto().allocate(RingLayout.ENTRIES, 64);
  private final CountedPause pause = new CountedPause();
  private final RingSignal other = new RingSignal(theirs, ours, 0, pause);

  private static final class CountedPause implements RingSignal.Pause {
    private long now;
    private int spins;
    private int sleeps;

    @Override
    public long nanos() {
      return now;
    }

    @Override
    public void spin() {
      spins++;
      now += INSTANT_NANOS;
    }

    @Override
    public void sleep(MemorySegment word, int seen, long nanos) {
      sleeps++;
      now += nanos;
    }
  }

  private RingSignal signal(long spinNanos) {
    return new RingSignal(ours, theirs, spinNanos, pause);
  }

  @Test
  void anIdleSide_neverSpins_andWakesFourTimesASecond() {
    RingSignal signal = signal(SPIN_NANOS);
    while (pause.now < Duration.ofMinutes(1).toNanos()) {
      signal.await(0, MOST_NANOS);
    }
    assertThat(pause.spins).isZero();
    assertThat(pause.sleeps).isEqualTo(4 * 60);
  }

  @Test
  void afterAnEntry_aSideSpinsOnce_forItsTime_thenSleepsAsIdle() {
    RingSignal signal = signal(SPIN_NANOS);
    signal.await(0, MOST_NANOS);
    other.post(1, true);
    for (int i = 0; i < 10; i++) {
      signal.await(1, MOST_NANOS);
    }
    assertThat(pause.spins * INSTANT_NANOS).isBetween(SPIN_NANOS, SPIN_NANOS + 64 * INSTANT_NANOS);
    assertThat(pause.sleeps).isEqualTo(1 + 10);
  }

  @Test
  void anEntryThatComesWhileASideSpins_needsNoSleep() {
    RingSignal signal = signal(SPIN_NANOS);
    other.post(1, true);
    signal.await(0, MOST_NANOS); // came before the wait
    int before = pause.sleeps;
    other.post(1, true);
    signal.await(1, MOST_NANOS);
    assertThat(pause.sleeps).isEqualTo(before).isZero();
    assertThat(pause.spins).isZero();
  }

  @Test
  void aSideWithoutSpin_sleepsAtOnce() {
    RingSignal signal = signal(0);
    other.post(1, true);
    signal.await(1, MOST_NANOS);
    assertThat(pause.spins).isZero();
    assertThat(pause.sleeps).isEqualTo(1);
  }
}
