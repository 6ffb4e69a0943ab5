package io.penstock.recording;

import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;

/// Work that waits while the recording is full. Work that may go on asks again, for others may have taken the room. A
/// wait that is cancelled holds nothing any more.
final class RoomWait {
  private final Turns turns;
  private final Runnable work;
  private @Nullable Disposable waiting;
  private boolean cancelled;

  RoomWait(Turns turns, Runnable work) {
    this.turns = turns;
    this.work = work;
  }

  /// Runs the work, now or when there is room.
  void run() {
    if (!turns.isFull()) {
      work.run();
      return;
    }
    Disposable handle = turns.whenRoom(this::run);
    boolean isLate;
    synchronized (this) {
      waiting = handle;
      isLate = cancelled;
    }
    if (isLate) {
      handle.dispose();
    }
  }

  /// The work need not run.
  void cancel() {
    Disposable handle;
    synchronized (this) {
      cancelled = true;
      handle = waiting;
    }
    if (handle != null) {
      handle.dispose();
    }
  }
}
