package io.penstock.pool;

import io.penstock.block.BlockKey;

/// Which blocks are demoted to the disk when they leave memory. Asked under a lock: must be quick, and not call back.
@FunctionalInterface
public interface OffloadRule {
  /// Whether `key` is demoted to the disk; if not, it is evicted.
  ///
  /// @param uses its recent uses as [FrequencySketch] estimates them, 15 at most; 0 if it was put and never asked for
  boolean takes(BlockKey key, int uses);

  /// Every block.
  static OffloadRule all() {
    return usedAtLeast(0);
  }

  /// Blocks that were used at least `uses` times.
  static OffloadRule usedAtLeast(int uses) {
    return new UsedAtLeast(uses);
  }

  /// Blocks that were used at least `uses` times. A value, so that the owner sees when it need not count uses.
  record UsedAtLeast(int uses) implements OffloadRule {
    public UsedAtLeast {
      if (uses < 0 || uses > FrequencySketch.MOST) {
        throw new IllegalArgumentException("uses must be in [0, " + FrequencySketch.MOST + "] (was " + uses + ")");
      }
    }

    @Override
    public boolean takes(BlockKey key, int counted) {
      return counted >= uses;
    }
  }
}
