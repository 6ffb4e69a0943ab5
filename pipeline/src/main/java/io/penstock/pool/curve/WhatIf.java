package io.penstock.pool.curve;

import static java.util.Objects.requireNonNull;

import io.penstock.check.Checks;
import io.penstock.pool.Ledger;
import java.util.List;

/// Estimates the effect of other capacities of its levels on a tier whose levels in sequence are one LRU list.
///
/// @param curve of the tier's references
/// @param repeats whether a level has the blocks of all faster levels, too, so that the slowest level has all blocks
/// @param levels fastest first
public record WhatIf(HitRateCurve curve, boolean repeats, List<Level> levels) {
  /// Multiples of the present capacity of a level that are shown by default.
  public static final List<Double> FACTORS = List.of(0.5, 1.0, 1.5, 2.0, 4.0);

  public WhatIf {
    requireNonNull(curve, "curve");
    levels = List.copyOf(levels);
  }

  /// @param capacityBlocks present capacity; [Ledger#UNBOUNDED] if it has none
  public record Level(String name, long capacityBlocks) {
    public Level {
      requireNonNull(name, "name");
      Checks.positive("capacityBlocks", capacityBlocks);
    }

    /// The present capacity, `factor` times; unbounded stays unbounded.
    public long times(double factor) {
      return capacityBlocks == Ledger.UNBOUNDED ? capacityBlocks : Math.max(1, Math.round(capacityBlocks * factor));
    }
  }

  /// The hit rate of level `level` and the faster ones together, if it had `capacityBlocks`.
  public HitRateCurve.Point upTo(int level, long capacityBlocks) {
    return curve.at(blocksUpTo(level, capacityBlocks));
  }

  /// How much higher this hit rate would be, if the level had `capacityBlocks` instead of its present capacity.
  public HitRateCurve.Point gainUpTo(int level, long capacityBlocks) {
    return curve.gain(blocksUpTo(level, levels.get(level).capacityBlocks), blocksUpTo(level, capacityBlocks));
  }

  /// The hit rate of the whole tier, if level `level` had `capacityBlocks`.
  public HitRateCurve.Point whole(int level, long capacityBlocks) {
    return curve.at(blocks(level, capacityBlocks));
  }

  /// How much higher this hit rate would be, if the level had `capacityBlocks` instead of its present capacity.
  public HitRateCurve.Point gainOfWhole(int level, long capacityBlocks) {
    return curve.gain(blocks(), blocks(level, capacityBlocks));
  }

  /// Different blocks of the whole tier.
  public long blocks() {
    return blocks(0, levels.getFirst().capacityBlocks);
  }

  private long blocks(int level, long capacityBlocks) {
    long blocks = blocksUpTo(level, capacityBlocks);
    for (int i = level + 1; i < levels.size(); i++) {
      blocks = repeats ? Math.max(blocks, levels.get(i).capacityBlocks) : sum(blocks, levels.get(i).capacityBlocks);
    }
    return blocks;
  }

  /// Different blocks of level `level` and the faster ones together, if the level had `capacityBlocks`.
  public long blocksUpTo(int level, long capacityBlocks) {
    long blocks = capacityBlocks;
    for (int i = 0; i < level; i++) {
      blocks = repeats ? Math.max(blocks, levels.get(i).capacityBlocks) : sum(blocks, levels.get(i).capacityBlocks);
    }
    return blocks;
  }

  private static long sum(long a, long b) {
    return a > Ledger.UNBOUNDED - b ? Ledger.UNBOUNDED : a + b;
  }
}
