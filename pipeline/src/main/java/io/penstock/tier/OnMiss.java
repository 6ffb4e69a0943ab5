package io.penstock.tier;

/// What a lease does about keys whose block is not visible.
public enum OnMiss {
  /// Leaves them out.
  SKIP,
  /// Waits for those that are being written now, leaves out the others.
  AWAIT,
  /// Decides in reference order, hit or insert, as the policy would: a missing key is admitted (it enters the ledger, a
  /// victim leaves) and awaited; the caller sees to it that the block is put. An admission that no writer took over
  /// ends with the lease.
  ADMIT
}
