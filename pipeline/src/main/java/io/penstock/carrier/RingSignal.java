package io.penstock.carrier;

import io.penstock.system.Futex;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.TimeUnit;

/// How one side of a ring tells the other that it posted, and waits for what the other posts: it spins for a bounded
/// time, then sleeps. One thread waits; callers post one at a time.
///
/// It spins only if something came since it waited last: a ring that is idle sleeps, and wakes now and then for an
/// instant.
final class RingSignal {
  /// Looks between two readings of the clock.
  private static final int LOOKS = 64;

  /// How the thread that waits passes the time.
  interface Pause {
    /// That of the system.
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
  /// Entries that had been served when the thread waited last.
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
    if (wake && (int) RingLayout.WORD.getVolatile(theirs, (long) RingLayout.ASLEEP) != 0) {
      Futex.wake(word(own));
    }
  }

  /// Tells the other side that nothing more comes: it finds more entries than the rules allow.
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

  /// Spins until something comes; false if that takes too long.
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

  /// Longest sleep, since a wake that comes just before a sleep is lost.
  static long mostNanos() {
    return TimeUnit.MILLISECONDS.toNanos(250);
  }

  private static MemorySegment word(MemorySegment region) {
    return region.asSlice(RingLayout.POSTED, Integer.BYTES);
  }
}
