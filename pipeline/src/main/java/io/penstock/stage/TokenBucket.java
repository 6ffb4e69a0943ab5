package io.penstock.stage;

import io.penstock.check.Checks;

/// A token bucket that keeps no tokens, only the moment at which it would be full: the generic cell rate algorithm.
///
/// Used by one thread at a time.
final class TokenBucket {
  private static final double NANOS_PER_SECOND = 1e9;

  private final double nanosPerUnit;
  private final long burstNanos;
  private long fullAtNanos;
  /// The fraction of a nanosecond that `fullAtNanos` lacks, so that many small elements do not pass free of charge.
  private double fractionNanos;

  TokenBucket(Pace.Options options, long nowNanos) {
    this.nanosPerUnit = NANOS_PER_SECOND / options.unitsPerSecond();
    this.burstNanos = (long) (options.burstUnits() * nanosPerUnit);
    this.fullAtNanos = nowNanos;
  }

  /// Takes `units` and answers how long to wait until they may pass.
  ///
  /// @throws IllegalArgumentException if `units` is negative
  long take(long units, long nowNanos) {
    Checks.notNegative("units", units);
    if (fullAtNanos < nowNanos) {
      fullAtNanos = nowNanos;
      fractionNanos = 0;
    }
    double cost = units * nanosPerUnit + fractionNanos;
    long wholeNanos = (long) cost;
    long before = fullAtNanos;
    fullAtNanos += wholeNanos;
    fractionNanos = cost - wholeNanos;
    return Math.max(0, before + Math.min(wholeNanos, burstNanos) - burstNanos - nowNanos);
  }
}
