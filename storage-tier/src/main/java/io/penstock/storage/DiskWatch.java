package io.penstock.storage;

import java.util.concurrent.atomic.AtomicLongArray;

/// The calls that wait for the disk now, and whether one waits too long. Any thread; entering costs one
/// compare-and-set.
///
/// Time is counted in ticks of a clock: after a stop of the process no call is late.
final class DiskWatch {
  /// So many ticks are what a read or an append may take.
  static final int TICKS = 4;

  /// Further calls at a time are not watched.
  private static final int SLOTS = 64;
  /// Slots lie on cache lines of their own.
  private static final int APART = 8;
  private static final int NONE = -1;

  /// The tick at which the call in a slot is late; 0 if the slot is free.
  private final AtomicLongArray due = new AtomicLongArray(SLOTS * APART);
  private volatile long now = 1;

  /// @param ticks that it may take
  /// @return to be handed to [#leave]
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

  /// A tick later. One thread.
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
