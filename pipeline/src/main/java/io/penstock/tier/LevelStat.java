package io.penstock.tier;

import static java.util.Objects.requireNonNull;

import io.penstock.tier.spi.CopyStat;
import io.penstock.tier.spi.DiskStat;
import io.penstock.tier.spi.StoreHealth;
import org.jspecify.annotations.Nullable;

/// Figures of one level of a tier at one moment; counters run from its opening.
///
/// @param name of the level
/// @param medium where its bytes are
/// @param capacityBlocks most blocks, `Long.MAX_VALUE` if unbounded
/// @param blocks visible blocks that the ledger has there
/// @param storedBlocks blocks whose bytes are there: the ledger may be ahead, and a disk keeps copies of promoted
///     blocks
/// @param hits references that found their block on this level of the ledger
/// @param arrived blocks that were copied, or handed over, to this level
/// @param health whether its store takes and gives blocks; while it gives none, its blocks are misses
/// @param copies copies that a device made; null where none does
/// @param disk what its disk does besides; null where there is none
public record LevelStat(String name, Medium medium, long capacityBlocks, long blocks, long storedBlocks, long hits,
    long arrived, StoreHealth health, @Nullable CopyStat copies, @Nullable DiskStat disk) {
  public LevelStat {
    requireNonNull(name, "name");
    requireNonNull(medium, "medium");
    requireNonNull(health, "health");
  }

  /// Of a healthy level, on no device and no disk.
  public LevelStat(String name, Medium medium, long capacityBlocks, long blocks, long storedBlocks, long hits,
      long arrived) {
    this(name, medium, capacityBlocks, blocks, storedBlocks, hits, arrived, StoreHealth.GOOD, null, null);
  }
}
