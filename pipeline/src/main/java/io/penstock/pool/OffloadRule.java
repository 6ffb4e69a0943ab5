package io.penstock.pool;

import io.penstock.block.BlockKey;

/// Which blocks are worth the disk when they leave memory. Asked under a pool's lock: quick, and must not call back.
@FunctionalInterface
public interface OffloadRule {
  /// Whether `key` goes on to the disk; if not, it leaves as evicted.
  ///
  /// @param uses about how often it was used lately, 15 at most, as [FrequencySketch] counts; 0 if it was put and never asked for
  boolean takes(BlockKey key, int uses);

  /// Every block.
  static OffloadRule all() {
    return (key, uses) -> true;
  }

  /// Blocks that were used so often.
  static OffloadRule usedAtLeast(int uses) {
    if (uses < 0 || uses > FrequencySketch.MOST) {
      throw new IllegalArgumentException("uses must be in [0, " + FrequencySketch.MOST + "] (was " + uses + ")");
    }
    return uses == 0 ? all() : (key, counted) -> counted >= uses;
  }
}
