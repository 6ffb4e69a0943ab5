package io.penstock.lab.bench.disk;

import java.util.concurrent.locks.LockSupport;

/// Moments at a fixed distance: a caller that is late catches up, and its lateness counts. For one thread, which waits.
final class FixedRate {
  /// A thread that sleeps is woken late; so much before a moment it stops sleeping.
  private static final long AWAKE_NANOS = 120_000;

  private final double nanos;
  private final long start;
  private long done;

  FixedRate(double perSecond) {
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
