package io.penstock.wire.transfer;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import org.jspecify.annotations.Nullable;

/// The states of one item. An item that is in progress ends only when its operation has ended, for until then the
/// operation uses the item's memory: a cancel or a timeout is remembered as a verdict. Safe from any thread.
final class ItemLife {
  /// Action that stops an item.
  enum Stop {
    /// The item ended with this call.
    ENDED,
    /// Its operation must be aborted; the item ends with the operation.
    ABORT,
    /// The item ended before, or is stopping already.
    NOTHING
  }

  @GuardedBy("this") private TransferState state = TransferState.WAITING;
  /// Why the operation is aborted; null while the item is not stopping.
  @GuardedBy("this") private @Nullable TransferState verdict;

  synchronized TransferState state() {
    return state;
  }

  /// Takes its place in the lane; false if it has ended.
  synchronized boolean enter() {
    return move(TransferState.WAITING, TransferState.PENDING);
  }

  /// Its operation begins; false if it has ended.
  synchronized boolean start() {
    return move(TransferState.PENDING, TransferState.IN_PROGRESS);
  }

  @GuardedBy("this") private boolean move(TransferState from, TransferState to) {
    boolean moved = state == from;
    state = moved ? to : state;
    return moved;
  }

  /// Prepares another attempt after a failed one; false if the item has ended or is stopping.
  synchronized boolean again() {
    boolean lives = !state.isTerminal() && verdict == null;
    state = lives ? TransferState.PENDING : state;
    return lives;
  }

  /// Ends the operation, or records that it cannot begin. Bytes that arrived count, for any verdict.
  ///
  /// @return end of the item; null if it had ended before
  synchronized @Nullable TransferState end(boolean succeeded) {
    if (state.isTerminal()) {
      return null;
    }
    TransferState stopped = verdict == null ? TransferState.FAILED : verdict;
    state = succeeded ? TransferState.COMPLETED : stopped;
    return state;
  }

  /// @param why [TransferState#TIMEOUT] or [TransferState#CANCELLED]
  synchronized Stop stop(TransferState why) {
    if (state.isTerminal() || verdict != null) {
      return Stop.NOTHING;
    } else if (state == TransferState.IN_PROGRESS) {
      verdict = why;
      return Stop.ABORT;
    }
    state = why;
    return Stop.ENDED;
  }
}
