package io.penstock.node.bench;

import java.util.concurrent.locks.LockSupport;

/// Moments at a fixed distance, whatever was late: who is late catches up, and his lateness counts. One thread.
final class Pace {
  /// A thread that sleeps is woken late; so much before a moment it stops sleeping.
  private static final long AWAKE_NANOS = 120_000;

  private final double nanos;
  private final long start;
  private long done;

  Pace(double perSecond) {
    this.nanos = 1e9 / perSecond;
    this.start = System.nanoTime();
  }

  /// Waits for the next moment and says when it was, by `System.nanoTime`.
  long next() {
    long at = start + (long) (done++ * nanos);
    for (long left = at - System.nanoTime(); left > 0; left = at - System.nanoTime()) {
      if (left > AWAKE_NANOS) {
        LockSupport.parkNanos(left - AWAKE_NANOS);
      } else {
        Thread.onSpinWait();
      }
    }
    return at;
  }
}
