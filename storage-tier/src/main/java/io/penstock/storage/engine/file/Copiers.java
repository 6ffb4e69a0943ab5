package io.penstock.storage.engine.file;

import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.locks.LockSupport;

/// Lets many threads copy from a mapping, or one thread take pages out of it. Threads that copy use counters on
/// different cache lines: a shared lock would cost a tenth of a copy of 64 KiB. Safe from any thread.
final class Copiers {
  private static final int COUNTERS = 16;
  /// Ints from one counter to the next: each has a cache line of its own.
  private static final int APART = 32;
  private static final long WAIT_NANOS = 10_000;

  private final AtomicIntegerArray copying = new AtomicIntegerArray(COUNTERS * APART);
  private final AtomicBoolean alone = new AtomicBoolean();

  /// Begins a copy.
  ///
  /// @return for [#leave]; below 0 while pages are taken: then the copy must not begin
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

  /// Keeps threads from beginning a copy until [#readmit], and waits for copies in progress, which are short.
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
