package io.penstock.stack.ledger;

import io.penstock.tier.TierEvent;
import java.util.List;

/// A step of a snapshot.
///
/// @param sequence number of the change after which the step was read
/// @param events all with that number
/// @param next where the next step begins; −1 after the last
record SnapshotPage(long sequence, List<TierEvent> events, int next) {
  /// Reads steps of a snapshot, each under the lock of its stack.
  @FunctionalInterface
  interface Source {
    /// @param from 0, then [SnapshotPage#next] of the step before
    SnapshotPage read(int from);
  }
}
