package io.penstock.tier;

import io.penstock.check.Checks;
import java.time.Duration;

/// Bounds of the read leases and pins of a [TierStack].
///
/// @param leaseLife life of a lease that asks for none, and of the lease that a hit renews for a group
/// @param mostLeaseLife longest life of a lease
/// @param leasesPerParty most read leases of one party at one time
/// @param softPinLife life of a soft pin that asks for none
/// @param mostSoftPinLife longest life of a soft pin
/// @param pinShare the part of the blocks that may be pinned, in [0, 1]: of the capacity of the last level
public record HoldOptions(Duration leaseLife, Duration mostLeaseLife, int leasesPerParty, Duration softPinLife,
    Duration mostSoftPinLife, double pinShare) {
  public HoldOptions {
    Checks.atLeastOneMilli("leaseLife", leaseLife);
    Checks.atLeastOneMilli("mostLeaseLife", mostLeaseLife);
    Checks.positive("leasesPerParty", leasesPerParty);
    Checks.atLeastOneMilli("softPinLife", softPinLife);
    Checks.atLeastOneMilli("mostSoftPinLife", mostSoftPinLife);
    requireMost("leaseLife", leaseLife, mostLeaseLife);
    requireMost("softPinLife", softPinLife, mostSoftPinLife);
    if (!(pinShare >= 0 && pinShare <= 1)) {
      throw new IllegalArgumentException("pinShare must be in [0, 1] (was " + pinShare + ")");
    }
  }

  /// Leases of 10 s, of 10 minutes at most, 1,024 a party; soft pins of 30 minutes, of 24 hours at most; half of the
  /// blocks may be pinned.
  public static HoldOptions defaults() {
    return new HoldOptions(Duration.ofSeconds(10), Duration.ofMinutes(10), 1024, Duration.ofMinutes(30),
        Duration.ofHours(24), 0.5);
  }

  public HoldOptions withLeaseLife(Duration leaseLife) {
    return new HoldOptions(leaseLife, mostLeaseLife, leasesPerParty, softPinLife, mostSoftPinLife, pinShare);
  }

  public HoldOptions withLeasesPerParty(int leasesPerParty) {
    return new HoldOptions(leaseLife, mostLeaseLife, leasesPerParty, softPinLife, mostSoftPinLife, pinShare);
  }

  public HoldOptions withPinShare(double pinShare) {
    return new HoldOptions(leaseLife, mostLeaseLife, leasesPerParty, softPinLife, mostSoftPinLife, pinShare);
  }

  /// The life of a lease that asks for `wanted`.
  ///
  /// @throws IllegalArgumentException if that is too long
  Duration lease(Duration wanted) {
    return wanted.isZero() ? leaseLife : requireMost("life of a lease", wanted, mostLeaseLife);
  }

  /// The life of a soft pin that asks for `wanted`.
  ///
  /// @throws IllegalArgumentException if that is too long
  Duration softPin(Duration wanted) {
    return wanted.isZero() ? softPinLife : requireMost("life of a soft pin", wanted, mostSoftPinLife);
  }

  private static Duration requireMost(String what, Duration life, Duration most) {
    if (life.compareTo(most) > 0) {
      throw new IllegalArgumentException(
          "%s must be <= %d ms (was %d)".formatted(what, most.toMillis(), life.toMillis()));
    }
    return life;
  }
}
