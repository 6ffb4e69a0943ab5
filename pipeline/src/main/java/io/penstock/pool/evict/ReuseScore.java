package io.penstock.pool.evict;

import io.penstock.block.BlockKey;

/// The time at which a key is expected to be of no more use, in references. The policy is this project's own, after the
/// rule of Belady (IBM Systems Journal 5, 1966): the key whose next use lies furthest ahead leaves.
///
/// A key stays the longer the more often it was used: each doubling of its uses is worth one mean interval between two
/// uses of a key, which this class measures, as it remembers evicted keys. A key that sits late in its request leaves
/// earlier: each doubling of the position costs a quarter of that interval. So at a capacity that is far too small to
/// span an interval the few keys that come again and again stay, and at a large capacity recency decides.
final class ReuseScore implements ScoreOrder.Score {
  private static final double POSITION_SHARE = 0.25;
  /// Weight of the newest of the measured intervals, once there are many.
  private static final double NEWEST = 1.0 / 2048;
  /// Number of uses above which the score does not grow.
  private static final int MOST_USES = 15;
  /// Logarithm of base 2 of each number of uses.
  private static final double[] WORTH = new double[MOST_USES + 1];

  static {
    for (int uses = 1; uses < WORTH.length; uses++) {
      WORTH[uses] = log2(uses);
    }
  }

  private final EvictedUses evicted;
  private double interval;
  private long intervals;

  ReuseScore(EvictedUses evicted) {
    this.evicted = evicted;
  }

  @Override
  public long of(int uses, int position, long now) {
    double worth = WORTH[Math.min(uses, MOST_USES)] - POSITION_SHARE * log2(1.0 + position);
    return now + Math.round(interval * worth);
  }

  @Override
  public int recalled(BlockKey key, long now) {
    int uses = evicted.uses(key);
    if (uses > 0) {
      reused(now - evicted.last(key));
      evicted.remove(key);
    }
    return uses;
  }

  @Override
  public void reused(long after) {
    intervals++;
    interval += (after - interval) * Math.max(NEWEST, 1.0 / intervals);
  }

  @Override
  public void evicted(BlockKey key, int uses, long last, long lowest) {
    evicted.add(key, uses, last);
  }

  @Override
  public void clear() {
    evicted.clear();
    interval = 0;
    intervals = 0;
  }

  /// Logarithm that is equal on every machine, so that equal uses have equal victims.
  private static double log2(double value) {
    return StrictMath.log(value) / StrictMath.log(2);
  }
}
