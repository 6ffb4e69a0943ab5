package io.penstock.pool.curve;

import io.penstock.check.Checks;

/// How a [MissRatioCurve] samples and forgets.
///
/// @param rate part of the keys that are sampled at first, in `(0, 1]`
/// @param mostSamples most sampled keys at a time, which bounds the memory; 0 to sample none. When there are more, the
///     rate falls
/// @param depthBlocks greatest capacity of interest: a key that was last used farther back is forgotten
/// @param halfLife references after which a reference counts half; [#UNBOUNDED] to forget none
/// @param seed of the choice of the keys; clients must not know it, for they choose keys
public record MissRatioOptions(double rate, int mostSamples, long depthBlocks, long halfLife, long seed) {
  /// No bound.
  public static final long UNBOUNDED = Long.MAX_VALUE;

  /// Maximum depth, and maximum distance that is distinguished from others.
  static final long MOST_DEPTH = 1L << 40;
  private static final int MOST_SAMPLES = 1 << 24;
  /// Multiple of the present capacity that a live curve covers.
  private static final int LIVE_DEPTH = 8;
  private static final long LEAST_LIVE_DEPTH = 1 << 10;
  private static final long LEAST_HALF_LIFE = 1 << 17;
  private static final long MOST_LIVE_KEYS_A_SAMPLE = 1 << 14;

  public MissRatioOptions {
    if (!(rate > 0 && rate <= 1)) {
      throw new IllegalArgumentException("rate must be in (0, 1] (was " + rate + ")");
    }
    if (mostSamples < 0 || mostSamples > MOST_SAMPLES) {
      throw new IllegalArgumentException(
          "mostSamples must be in [0, " + MOST_SAMPLES + "] (was " + mostSamples + ")");
    }
    Checks.positive("depthBlocks", depthBlocks);
    Checks.positive("halfLife", halfLife);
    depthBlocks = Math.min(depthBlocks, MOST_DEPTH);
  }

  /// A fixed rate, for a load that ends: nothing is forgotten, and memory grows with the keys.
  public static MissRatioOptions ofRate(double rate, long seed) {
    return new MissRatioOptions(rate, MOST_SAMPLES, UNBOUNDED, UNBOUNDED, seed);
  }

  /// A fixed number of samples, for a load that ends: the rate falls from 1 as distinct keys come.
  public static MissRatioOptions ofSamples(int mostSamples, long seed) {
    return new MissRatioOptions(1, mostSamples, UNBOUNDED, UNBOUNDED, seed);
  }

  /// A fixed number of samples, for the load without end of a tier of `capacityBlocks`. The curve covers eight times
  /// this capacity. The rate is `mostSamples` in this depth, so that most keys cost nothing, and hardly falls. The
  /// half-life is twice the depth, at least 131,072 references.
  public static MissRatioOptions live(long capacityBlocks, int mostSamples, long seed) {
    if (mostSamples == 0) {
      return new MissRatioOptions(1, 0, 1, UNBOUNDED, seed);
    }
    long most = mostSamples * MOST_LIVE_KEYS_A_SAMPLE;
    long depth = capacityBlocks > most / LIVE_DEPTH ? most : Math.max(LEAST_LIVE_DEPTH, capacityBlocks * LIVE_DEPTH);
    return new MissRatioOptions(Math.min(1, (double) mostSamples / depth), mostSamples, depth,
        Math.max(LEAST_HALF_LIFE, 2 * depth), seed);
  }
}
