package io.penstock.lab.bench.side;

/// Which way items of a transfer go.
public enum TransferDirection {
  /// From segments of the far side.
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
