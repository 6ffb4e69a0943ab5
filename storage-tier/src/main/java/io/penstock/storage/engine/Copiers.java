package io.penstock.storage.engine;

import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.locks.LockSupport;

/// Threads that copy from a mapping, and one that takes pages out of it while none copies. Threads that copy have
/// counters apart from each other: a lock that all of them write to costs a tenth of a copy of 64 KiB. Safe from any
/// thread.
final class Copiers {
  private static final int COUNTERS = 16;
  /// Counters lie on cache lines of their own.
  private static final int APART = 32;
  private static final long WAIT_NANOS = 10_000;

  private final AtomicIntegerArray copying = new AtomicIntegerArray(COUNTERS * APART);
  private final AtomicBoolean alone = new AtomicBoolean();

  /// Begins a copy.
  ///
  /// @return what [#leave] takes; below 0 if pages are being taken: then there is nothing to leave
  int enter() {
    int counter = ((int) Thread.currentThread().threadId() & COUNTERS - 1) * APART;
    copying.incrementAndGet(counter);
    if (alone.get()) {
      leave(counter);
      return -1;
    }
    return counter;
  }

  void leave(int counter) {
    copying.decrementAndGet(counter);
  }

  /// Keeps new threads from copying, and waits for those that do; copies are short. One at a time, until [#readmit].
  void shutOut() {
    while (!alone.compareAndSet(false, true)) {
      LockSupport.parkNanos(WAIT_NANOS);
    }
    for (int i = 0; i < COUNTERS; i++) {
      while (copying.get(i * APART) > 0) {
        LockSupport.parkNanos(WAIT_NANOS);
      }
    }
  }

  void readmit() {
    alone.set(false);
  }
}
