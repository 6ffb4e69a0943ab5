package io.penstock.wire.cluster;

import static java.util.Objects.requireNonNull;

import io.penstock.check.Checks;

/// A space that has a quota over all members of a cluster.
///
/// @param space name of it at a member
/// @param bytes of its blocks at all members, as far as they have told
/// @param quotaBytes most of them; the least, if members were told different ones
/// @param members that have the space
public record SpaceQuota(String space, long bytes, long quotaBytes, int members) {
  public SpaceQuota {
    requireNonNull(space, "space");
    Checks.notNegative("bytes", bytes);
    Checks.positive("quotaBytes", quotaBytes);
    Checks.positive("members", members);
  }
}
