package io.penstock.tier;

import static java.util.Objects.requireNonNull;

import io.penstock.tier.spi.CopyStat;
import io.penstock.tier.spi.DiskStat;
import io.penstock.tier.spi.StoreHealth;
import org.jspecify.annotations.Nullable;

/// Figures of one level of a tier at one moment; counters run from its opening.
///
/// @param name of the level
/// @param medium where its bytes rest
/// @param capacityBlocks most blocks, `Long.MAX_VALUE` if unbounded
/// @param blocks visible blocks that the books put there
/// @param storedBlocks blocks whose bytes are there: the books may be ahead, and a disk keeps copies of what rose
/// @param hits references that found their block in the books of this level
/// @param arrived blocks that were copied, or handed over, to this level
/// @param health whether its store takes and gives blocks; what rests in one that gives nothing is a miss meanwhile
/// @param copies what moved its blocks; null where no device does
/// @param disk what the disk of its store does besides; null where there is none
public record LevelStat(String name, Medium medium, long capacityBlocks, long blocks, long storedBlocks, long hits,
    long arrived,
    StoreHealth health, @Nullable CopyStat copies, @Nullable DiskStat disk) {
  public LevelStat {
    requireNonNull(name, "name");
    requireNonNull(medium, "medium");
    requireNonNull(health, "health");
  }

  /// Of a level that is as it should be, on no device and no disk.
  public LevelStat(String name, Medium medium, long capacityBlocks, long blocks, long storedBlocks, long hits,
      long arrived) {
    this(name, medium, capacityBlocks, blocks, storedBlocks, hits, arrived, StoreHealth.GOOD, null, null);
  }
}
