package io.penstock.stack;

import java.util.List;

/// A call on a [TierStack] and its answer. Keys are numbers; the answers have a bit for each key.
///
/// @param found keys that are visible, granted or removed, by the kind of the call; of [Kind#MATCH] those of the prefix
/// @param client that called
record StackCall(Kind kind, List<Integer> keys, int found, int hits, int awaited, int admitted, int client) {
  enum Kind {
    CONTAINS,
    MATCH,
    /// Asks for room; `found` says which keys were granted.
    RESERVE,
    COMMIT,
    /// Closes a reservation.
    REVOKE,
    /// A lease with `OnMiss.SKIP`.
    LEASE,
    /// A lease with `OnMiss.ADMIT`.
    ADMIT,
    /// Closes a lease with `OnMiss.ADMIT`.
    END,
    REMOVE
  }

  static StackCall of(Kind kind, List<Integer> keys, int found, int client) {
    return new StackCall(kind, keys, found, 0, 0, 0, client);
  }

  /// Whether its answer is one decision under the lock of the stack in every mode.
  boolean isDecision() {
    return kind != Kind.CONTAINS && kind != Kind.MATCH;
  }

  static boolean has(int bits, int position) {
    return (bits >>> position & 1) == 1;
  }
}
