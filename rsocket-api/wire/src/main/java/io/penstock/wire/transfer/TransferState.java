package io.penstock.wire.transfer;

/// State of an item of a batch. An item ends once, in one of the last four states.
public enum TransferState {
  /// The item waits in the queue of its destination.
  WAITING,
  /// The item has a place in the lane of its destination, and waits for a connection, a descriptor or its second
  /// attempt.
  PENDING,
  /// Its bytes are asked for or sent.
  IN_PROGRESS,
  /// Its bytes arrived and were verified; those of a write at the receiver.
  COMPLETED,
  /// The item failed; its result has the error.
  FAILED,
  /// Its deadline passed.
  TIMEOUT,
  /// Its batch was cancelled.
  CANCELLED;

  public boolean isTerminal() {
    return compareTo(COMPLETED) >= 0;
  }
}
