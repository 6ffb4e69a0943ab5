package io.penstock.carrier;

import io.penstock.system.Futex;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.TimeUnit;

/// Signals between the two sides of a ring. A side announces its posts, and waits for the posts of the other: it spins
/// for a bounded time, then sleeps. One thread waits; callers post one at a time.
///
/// It spins only if something came since its last wait: an idle ring sleeps, and wakes at intervals for an instant.
final class RingSignal {
  /// Looks between two readings of the clock.
  private static final int LOOKS = 64;

  /// Ways in which the waiting thread passes the time.
  interface Pause {
    /// Clock and pauses of the operating system.
    Pause SYSTEM = new Pause() {
      @Override
      public long nanos() {
        return System.nanoTime();
      }

      @Override
      public void spin() {
        Thread.onSpinWait();
      }

      @Override
      public void sleep(MemorySegment word, int seen, long nanos) {
        Futex.await(word, seen, nanos);
      }
    };

    /// The time.
    long nanos();

    /// Passes an instant.
    void spin();

    /// Sleeps as long as `word` is `seen`, at most `nanos`.
    void sleep(MemorySegment word, int seen, long nanos);
  }

  private final MemorySegment own;
  private final MemorySegment theirs;
  private final long spinNanos;
  private final Pause pause;
  private int posted;
  /// Number of entries that had been served at the last wait.
  private int servedBefore;

  /// @param spinNanos longest spin before a sleep; 0 for none
  RingSignal(MemorySegment own, MemorySegment theirs, long spinNanos) {
    this(own, theirs, spinNanos, Pause.SYSTEM);
  }

  RingSignal(MemorySegment own, MemorySegment theirs, long spinNanos, Pause pause) {
    this.own = own;
    this.theirs = theirs;
    this.spinNanos = spinNanos;
    this.pause = pause;
  }

  /// Number of the first entry that the caller may write now.
  int next() {
    return posted;
  }

  /// Publishes `entries` from that one on, together, and wakes the other side if `wake` and it sleeps.
  void post(int entries, boolean wake) {
    posted += entries;
    RingLayout.WORD.setVolatile(own, (long) RingLayout.POSTED, posted);
    if (wake) {
      wakeOther();
    }
  }

  /// Wakes the other side if it sleeps.
  void wakeOther() {
    if ((int) RingLayout.WORD.getVolatile(theirs, (long) RingLayout.ASLEEP) != 0) {
      Futex.wake(word(own));
    }
  }

  /// Reports the end to the other side, by more entries than the rules allow.
  void end() {
    post(RingLayout.REQUESTS + 1, true);
  }

  /// Entries that the other side posted so far.
  int received() {
    return (int) RingLayout.WORD.getVolatile(theirs, (long) RingLayout.POSTED);
  }

  /// Waits until the other side has posted more than `seen` entries, at most `nanos`, or until [#wake].
  void await(int seen, long nanos) {
    boolean isIdle = seen == servedBefore;
    servedBefore = seen;
    if (isIdle || spinNanos == 0 || !spins(seen)) {
      RingLayout.WORD.setVolatile(own, (long) RingLayout.ASLEEP, 1);
      if (received() == seen) {
        pause.sleep(word(theirs), seen, nanos);
      }
      RingLayout.WORD.setVolatile(own, (long) RingLayout.ASLEEP, 0);
    }
  }

  /// Spins until an entry comes; false if that takes too long.
  private boolean spins(int seen) {
    long began = pause.nanos();
    do {
      for (int i = 0; i < LOOKS; i++) {
        if (received() != seen) {
          return true;
        }
        pause.spin();
      }
    } while (pause.nanos() - began <= spinNanos);
    return false;
  }

  /// Wakes the thread of this side that waits.
  void wake() {
    Futex.wake(word(theirs));
  }

  /// Maximum sleep, since a wake just before a sleep is lost.
  static long mostNanos() {
    return TimeUnit.MILLISECONDS.toNanos(250);
  }

  private static MemorySegment word(MemorySegment region) {
    return region.asSlice(RingLayout.POSTED, Integer.BYTES);
  }
}
