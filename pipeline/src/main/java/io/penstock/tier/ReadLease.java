package io.penstock.tier;

import static java.util.Objects.requireNonNull;

import java.time.Duration;

/// The outcome of a look-up that leases what it found: a later read names `id`. The leased blocks are not evicted until
/// then.
///
/// @param id names the lease; 0 if nothing was leased. Who knows it may read under it
/// @param found keys whose block was visible; with [LeaseTerms#prefixOnly()] only the longest prefix
/// @param leased those of `found` that the lease holds; fewer than found if the bound on leased blocks was reached
/// @param life from the look-up, or from the end of the last read that named it
public record ReadLease(long id, Presence found, Presence leased, Duration life) {
  public ReadLease {
    requireNonNull(found, "found");
    requireNonNull(leased, "leased");
    requireNonNull(life, "life");
  }
}
