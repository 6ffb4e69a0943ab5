package io.penstock.tier;

/// What a lease does about keys whose block is not visible.
public enum OnMiss {
  /// Leaves them out.
  SKIP,
  /// Waits for those that somebody is writing now, leaves out the rest.
  AWAIT,
  /// Decides in reference order, hit or insert, as the policy would: a missing key is admitted (its place is taken, a
  /// victim leaves) and awaited; the caller sees to it that somebody puts it. An admission that nobody wrote ends with
  /// the lease.
  ADMIT
}
