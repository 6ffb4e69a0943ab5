package io.penstock.tier;

/// Reaction of a lease to keys whose block is not visible.
public enum OnMiss {
  /// Leaves these keys out.
  SKIP,
  /// Waits for keys that are being written now, and leaves out the others.
  AWAIT,
  /// Admits the missing keys, in the order of the request, as the textbook policy would: each enters the ledger, and a
  /// victim leaves. The lease waits for these keys, and the caller has their blocks put. An admission that no writer
  /// took over ends with the lease.
  ADMIT
}
