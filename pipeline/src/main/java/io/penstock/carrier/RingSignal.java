package io.penstock.carrier;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import io.penstock.system.Futex;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.util.concurrent.TimeUnit;

/// How one side of a ring tells the other that it posted, and waits for what the other posts: it spins for a bounded
/// time, then sleeps. One thread waits; callers post one at a time.
final class RingSignal {
  private static final VarHandle WORD = JAVA_INT.varHandle();
  /// Looks between two readings of the clock.
  private static final int LOOKS = 64;

  private final MemorySegment own;
  private final MemorySegment theirs;
  private final long spinNanos;
  private int posted;

  /// @param spinNanos longest spin before a sleep; 0 for none
  RingSignal(MemorySegment own, MemorySegment theirs, long spinNanos) {
    this.own = own;
    this.theirs = theirs;
    this.spinNanos = spinNanos;
  }

  /// Number of the entry that the caller may write now.
  int next() {
    return posted;
  }

  /// Publishes that entry, and wakes the other side if `wake` and it sleeps.
  void post(boolean wake) {
    WORD.setVolatile(own, (long) RingLayout.POSTED, ++posted);
    if (wake && (int) WORD.getVolatile(theirs, (long) RingLayout.ASLEEP) != 0) {
      Futex.wake(word(own));
    }
  }

  /// Tells the other side that nothing more comes: it finds more entries than the rules allow.
  void end() {
    posted += RingLayout.REQUESTS;
    post(true);
  }

  /// Entries that the other side posted so far.
  int received() {
    return (int) WORD.getVolatile(theirs, (long) RingLayout.POSTED);
  }

  /// Waits until the other side has posted more than `seen` entries, at most `nanos`, or until [#wake].
  void await(int seen, long nanos) {
    if (!spins(seen)) {
      WORD.setVolatile(own, (long) RingLayout.ASLEEP, 1);
      if (received() == seen) {
        Futex.await(word(theirs), seen, nanos);
      }
      WORD.setVolatile(own, (long) RingLayout.ASLEEP, 0);
    }
  }

  private boolean spins(int seen) {
    long began = spinNanos == 0 ? 0 : System.nanoTime();
    while (spinNanos > 0) {
      for (int i = 0; i < LOOKS; i++) {
        if (received() != seen) {
          return true;
        }
        Thread.onSpinWait();
      }
      if (System.nanoTime() - began > spinNanos) {
        return false;
      }
    }
    return received() != seen;
  }

  /// Wakes the thread of this side that waits.
  void wake() {
    Futex.wake(word(theirs));
  }

  /// Longest sleep, since a wake that comes just before a sleep is lost.
  static long mostNanos() {
    return TimeUnit.MILLISECONDS.toNanos(250);
  }

  private static MemorySegment word(MemorySegment region) {
    return region.asSlice(RingLayout.POSTED, Integer.BYTES);
  }
}
