package io.penstock.pool;

import io.penstock.block.BlockKey;

/// Which blocks are worth the disk when they leave memory. Asked under a pool's lock: quick, and must not call back.
@FunctionalInterface
public interface OffloadRule {
  /// Whether `key` goes on to the disk; if not, it leaves as evicted.
  ///
  /// @param uses about how often it was used lately, 15 at most, as [FrequencySketch] counts; 0 if it was put and never
  ///     asked for
  boolean takes(BlockKey key, int uses);

  /// Every block.
  static OffloadRule all() {
    return usedAtLeast(0);
  }

  /// Blocks that were used so often.
  static OffloadRule usedAtLeast(int uses) {
    return new UsedAtLeast(uses);
  }

  /// Blocks that were used so often: a value, so that those who would count nothing can tell.
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
