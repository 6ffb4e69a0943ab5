package io.penstock.tier;

import static java.util.Objects.requireNonNull;

import io.penstock.block.CacheSpace;
import io.penstock.check.Checks;

/// Description of a tier.
///
/// @param name short and unique in its node; used in receipts, errors and meters
/// @param medium of the bytes
/// @param space the only space whose blocks it holds
/// @param capacityBlocks maximum number of blocks, `Long.MAX_VALUE` if unbounded
public record TierInfo(String name, Medium medium, CacheSpace space, long capacityBlocks) {
  public TierInfo {
    requireNonNull(name, "name");
    requireNonNull(medium, "medium");
    requireNonNull(space, "space");
    Checks.positive("capacityBlocks", capacityBlocks);
  }
}
