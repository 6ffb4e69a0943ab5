package io.penstock.tier;

import io.penstock.block.BlockKey;
import io.penstock.pool.FrequencySketch;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Which blocks of a [TierStack] may rise from a disk, and which may sink to it, as [TieringOptions] say. Guarded by
/// the stack's lock.
final class StackTiering {
  private static final long LEAST_KEYS = 1 << 10;
  private static final long MOST_KEYS = 1 << 24;

  private final List<Level> levels;
  private final TieringOptions options;
  private final boolean asks;
  private final @Nullable FrequencySketch uses;

  StackTiering(List<Level> levels, StackOptions options, long capacityBlocks) {
    this.levels = levels;
    this.options = options.tiering();
    this.asks = options.mode() == StackMode.EXCLUSIVE;
    this.uses =
        this.options.countsUses() ? new FrequencySketch(Math.clamp(capacityBlocks, LEAST_KEYS, MOST_KEYS)) : null;
  }

  /// Counts a use of `key`, which is on `level`; whether it is to rise for it.
  boolean rises(BlockKey key, int level) {
    if (uses == null) {
      return true;
    }
    int used = uses.use(key);
    return level == 0 || levels.get(level).medium() != Medium.DISK || used >= options.promoteAtHit();
  }

  /// Whether `key`, which has no copy on `level`, is worth one.
  boolean offloads(BlockKey key, int level) {
    return uses == null || !asks || levels.get(level).medium() != Medium.DISK
        || options.offload().takes(key, uses.estimate(key));
  }
}
