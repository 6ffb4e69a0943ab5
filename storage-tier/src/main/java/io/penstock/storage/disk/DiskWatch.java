package io.penstock.storage.disk;

import java.util.concurrent.atomic.AtomicLongArray;

/// Watches the calls that wait for the disk now. Safe from any thread; entering costs one compare-and-set.
///
/// Ticks of a clock count the time, so that no call is late because the process was stopped.
final class DiskWatch {
  /// A read or an append may take this many ticks.
  static final int TICKS = 4;

  /// Maximum number of calls that are watched at a time.
  private static final int SLOTS = 64;
  /// Longs from one slot to the next: each has a cache line of its own.
  private static final int APART = 8;
  private static final int NONE = -1;

  /// The tick at which the call in a slot is late; 0 if the slot is free.
  private final AtomicLongArray due = new AtomicLongArray(SLOTS * APART);
  private volatile long now = 1;

  /// @param ticks that the call may take
  /// @return argument for [#leave]
  int enter(int ticks) {
    long late = now + ticks + 1;
    int first = (int) Thread.currentThread().threadId();
    for (int i = 0; i < SLOTS; i++) {
      int slot = ((first + i) & (SLOTS - 1)) * APART;
      if (due.compareAndSet(slot, 0, late)) {
        return slot;
      }
    }
    return NONE;
  }

  void leave(int slot) {
    if (slot != NONE) {
      due.set(slot, 0);
    }
  }

  /// Moves the time by a tick. One thread.
  ///
  /// @return whether a call is late
  boolean tick() {
    long tick = now + 1;
    now = tick;
    for (int slot = 0; slot < SLOTS * APART; slot += APART) {
      long late = due.get(slot);
      if (late != 0 && late <= tick) {
        return true;
      }
    }
    return false;
  }
}
