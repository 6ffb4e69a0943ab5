package io.penstock.lab.bench.side;

/// Direction of the items of a transfer.
public enum TransferDirection {
  /// Reads of segments of the far side.
  READ,
  /// Into segments of the far side.
  WRITE,
  /// Batches of either kind by turns.
  BOTH;

  /// Whether the batch of this turn reads.
  boolean reads(long turn) {
    return this == READ || (this == BOTH && turn % 2 == 0);
  }
}
