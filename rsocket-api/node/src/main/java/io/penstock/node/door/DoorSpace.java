package io.penstock.node.door;

import static java.util.Objects.requireNonNull;

import io.penstock.tier.BlockTier;
import io.penstock.tier.TierInfo;
import java.util.List;

/// A space of values of a node, for a door.
///
/// @param name by which roles and settings know it
/// @param tiers of its parts: one for each size, the longest first; at least one
/// @param memoryBytes most host memory that its values may take
public record DoorSpace(String name, List<BlockTier> tiers, DoorValues values, long memoryBytes) {
  public DoorSpace {
    requireNonNull(name, "name");
    tiers = List.copyOf(tiers);
    requireNonNull(values, "values");
  }

  /// Bytes of the longest value that has room here when all others have gone, in memory and on the disk.
  public long mostValueBytes() {
    TierInfo info = tiers.getFirst().info();
    long parts = Math.min(info.capacityBlocks() - 1, Integer.MAX_VALUE);
    return Math.max(0, parts - 1) * info.space().layout().blockBytes(); // its head takes a bit of one
  }
}
