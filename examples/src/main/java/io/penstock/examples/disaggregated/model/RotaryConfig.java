package io.penstock.examples.disaggregated.model;

/// Rotary positions of a model.
///
/// @param theta base of the angles
/// @param width elements of a head that are turned, the first ones; even
/// @param interleaved whether elements *2i* and *2i + 1* are a pair; otherwise *i* and *i + width / 2*
/// @param scaling of the angles
public record RotaryConfig(double theta, int width, boolean interleaved, Scaling scaling) {
  public RotaryConfig {
    if (!(theta > 0) || Double.isInfinite(theta)) {
      throw new IllegalArgumentException("rope_theta must be > 0 (was " + theta + ")");
    }
    if (width <= 0 || width % 2 != 0) {
      throw new IllegalArgumentException("rotary elements of a head must be even and > 0 (was " + width + ")");
    }
  }

  /// Angles of a model that reads longer texts than it first learnt.
  ///
  /// @param factor that slows the pairs down; 1 for none
  /// @param lowFactor with `highFactor` and `originalPositions`: a pair that turns less often than `lowFactor` times in
  ///     those positions is slowed down, and one that turns more often than `highFactor` times is not
  /// @param highFactor greater than `lowFactor`
  /// @param originalPositions 0 if all pairs are slowed down
  public record Scaling(double factor, double lowFactor, double highFactor, int originalPositions) {
    public static final Scaling NONE = linear(1);

    public Scaling {
      if (!(factor >= 1) || Double.isInfinite(factor)) {
        throw new IllegalArgumentException("factor must be >= 1 (was " + factor + ")");
      }
      if (originalPositions < 0 || (originalPositions > 0 && !(lowFactor > 0 && highFactor > lowFactor))) {
        throw new IllegalArgumentException("factors must be 0 < low_freq_factor < high_freq_factor (was " + lowFactor
            + ", " + highFactor + ")");
      }
    }

    /// All pairs slowed down.
    public static Scaling linear(double factor) {
      return new Scaling(factor, 0, 0, 0);
    }

    /// Angle a position, of a pair that had the angle `plain`.
    double of(double plain) {
      if (originalPositions == 0) {
        return plain / factor;
      }
      double turns = originalPositions * plain / (2 * StrictMath.PI);
      double kept = Math.clamp((turns - lowFactor) / (highFactor - lowFactor), 0, 1);
      return (1 - kept) * plain / factor + kept * plain;
    }
  }

  /// Angle a position of pair `i`.
  double angle(int i) {
    return scaling.of(StrictMath.pow(theta, -2.0 * i / width));
  }
}
