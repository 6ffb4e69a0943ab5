package io.penstock.pool.curve;

/// Weights of references by their stack distance, in groups of keys. The spread over the groups says how far an
/// estimate may be off.
///
/// Distances below 32 have a bucket each; above, 16 buckets share each power of two. Not thread-safe.
final class MissRatioHistogram {
  static final int GROUPS = 16;

  private static final int SUB_BITS = 4;
  private static final int SUBS = 1 << SUB_BITS;

  /// Weights by group, then by bucket.
  private final double[][] weights;
  /// References whose distance is unknown: the key was new, or was used too long ago. By group.
  private final double[] cold = new double[GROUPS];
  private final long depth;

  MissRatioHistogram(long depth) {
    this.depth = depth;
    this.weights = new double[GROUPS][bucket(depth) + 1];
  }

  /// Adds a reference at `distance`, at least 1.
  void add(int group, long distance, double weight) {
    if (distance > depth) {
      cold[group] += weight;
    } else {
      weights[group][bucket(distance)] += weight;
    }
  }

  /// Adds a reference whose distance is unknown.
  void addCold(int group, double weight) {
    cold[group] += weight;
  }

  /// Multiplies all weights by `factor`.
  void scale(double factor) {
    for (int group = 0; group < GROUPS; group++) {
      cold[group] *= factor;
      for (int i = 0; i < weights[group].length; i++) {
        weights[group][i] *= factor;
      }
    }
  }

  /// The first bucket from which on all are empty; the last bucket if it is not.
  int last() {
    int used = 0;
    for (double[] ofGroup : weights) {
      int last = ofGroup.length;
      while (last > used && ofGroup[last - 1] == 0) {
        last--;
      }
      used = Math.max(used, last);
    }
    return Math.min(used, weights[0].length - 1);
  }

  /// The weight of the references of each group whose distance is unknown.
  double[] cold() {
    return cold.clone();
  }

  /// Adds the weights of `bucket` to `misses`, by group.
  void addTo(double[] misses, int bucket) {
    for (int group = 0; group < GROUPS; group++) {
      misses[group] += weights[group][bucket];
    }
  }

  static int bucket(long distance) {
    if (distance < SUBS) {
      return (int) distance;
    }
    int shift = 63 - Long.numberOfLeadingZeros(distance) - SUB_BITS;
    return (shift + 1) * SUBS + (int) (distance >>> shift & (SUBS - 1));
  }

  /// The greatest distance in `bucket`.
  static long upper(int bucket) {
    if (bucket < SUBS) {
      return bucket;
    }
    int shift = bucket / SUBS - 1;
    return ((long) (SUBS + bucket % SUBS + 1) << shift) - 1;
  }
}
