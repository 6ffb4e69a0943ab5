package io.penstock.operator;

/// A token bucket that keeps no tokens, only the moment at which it would be full: the generic cell rate algorithm.
///
/// Used by one thread at a time.
public final class TokenBucket {
  private static final double NANOS_PER_SECOND = 1e9;

  private final double nanosPerUnit;
  private final long burstNanos;
  private long fullAtNanos;
  /// The fraction of a nanosecond that `fullAtNanos` lacks, so that many small elements do not pass free of charge.
  private double fractionNanos;

  /// @param burstUnits units that may pass at once after a pause
  public TokenBucket(long unitsPerSecond, long burstUnits, long nowNanos) {
    this.nanosPerUnit = NANOS_PER_SECOND / unitsPerSecond;
    this.burstNanos = (long) (burstUnits * nanosPerUnit);
    this.fullAtNanos = nowNanos;
  }

  /// Takes `units` and answers how long to wait until they may pass. What weighs more than the burst passes when the
  /// bucket is full.
  ///
  /// @throws IllegalArgumentException if `units` is negative
  public long take(long units, long nowNanos) {
    long wait = waitNanos(units, nowNanos);
    double cost = units * nanosPerUnit + fractionNanos;
    long wholeNanos = (long) cost;
    fullAtNanos += wholeNanos;
    fractionNanos = cost - wholeNanos;
    return wait;
  }

  /// How long `units` would wait if they were taken now.
  ///
  /// @throws IllegalArgumentException if `units` is negative
  public long waitNanos(long units, long nowNanos) {
    if (units < 0) {
      throw new IllegalArgumentException("units must be >= 0 (was " + units + ")");
    }
    if (fullAtNanos < nowNanos) {
      fullAtNanos = nowNanos;
      fractionNanos = 0;
    }
    long wholeNanos = (long) (units * nanosPerUnit + fractionNanos);
    return Math.max(0, fullAtNanos + Math.min(wholeNanos, burstNanos) - burstNanos - nowNanos);
  }

  /// Puts `units` back that were taken and did not pass.
  public void giveBack(long units) {
    fullAtNanos -= (long) (units * nanosPerUnit);
  }
}
