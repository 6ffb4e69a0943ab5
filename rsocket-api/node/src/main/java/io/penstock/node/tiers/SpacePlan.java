package io.penstock.node.tiers;

import static java.util.Objects.requireNonNull;

import io.penstock.block.CacheSpace;
import io.penstock.check.Checks;

/// One of several spaces of a node.
///
/// @param name short; the name of its tier, and of its folder on the disk
/// @param quotaBytes maximum host memory; `Long.MAX_VALUE` for no quota
/// @param ssdQuotaBytes maximum bytes of blocks on disk; `Long.MAX_VALUE` for no quota
public record SpacePlan(String name, CacheSpace space, double weight, long quotaBytes, long ssdQuotaBytes) {
  public SpacePlan {
    requireNonNull(name, "name");
    requireNonNull(space, "space");
    Checks.positive("quotaBytes", quotaBytes);
    Checks.positive("ssdQuotaBytes", ssdQuotaBytes);
  }

  int blockBytes() {
    return space.layout().blockBytes();
  }
}
