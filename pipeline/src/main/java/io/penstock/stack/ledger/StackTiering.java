package io.penstock.stack.ledger;

import io.penstock.block.BlockKey;
import io.penstock.pool.evict.FrequencySketch;
import io.penstock.stack.shape.StackOptions;
import io.penstock.stack.shape.StackShape;
import org.jspecify.annotations.Nullable;

/// Decides which blocks of a `TierStack` are promoted from a disk and which are demoted to a disk, by its
/// [StackOptions.Tiering]. Used in decisions only.
final class StackTiering {
  private static final long LEAST_KEYS = 1 << 10;
  private static final long MOST_KEYS = 1 << 24;

  private final StackShape shape;
  private final StackOptions.Tiering options;
  private final @Nullable FrequencySketch uses;

  StackTiering(StackShape shape) {
    this.shape = shape;
    this.options = shape.options().tiering();
    this.uses = options.countsUses()
        ? new FrequencySketch(Math.clamp(shape.info().capacityBlocks(), LEAST_KEYS, MOST_KEYS))
        : null;
  }

  /// Counts a use of `key`, which is on `level`. Answers whether the use promotes the key.
  boolean promotes(BlockKey key, int level) {
    if (uses == null) {
      return true;
    }
    int used = uses.use(key);
    return level == 0 || !shape.isDisk(level) || used >= options.promoteAtHit();
  }

  /// Whether to copy `key`, which has no copy on `level`, to that level.
  boolean offloads(BlockKey key, int level) {
    return uses == null || shape.isWriteThrough() || !shape.isDisk(level)
        || options.offload().takes(key, uses.estimate(key));
  }
}
