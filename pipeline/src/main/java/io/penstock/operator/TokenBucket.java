package io.penstock.operator;

import io.penstock.check.Checks;

/// A token bucket that keeps no tokens, only the moment at which it would be full: the generic cell rate algorithm of
/// ITU-T I.371, in its form of virtual scheduling.
///
/// It departs from the recommendation in two ways: a cell that comes too early is not refused but told how long to
/// wait, and a cell larger than the burst passes when the bucket is full. A debt grows to 146 years at most.
///
/// Used by one thread at a time. Moments are compared by their difference, as those of `System.nanoTime()` must be.
public final class TokenBucket {
  private static final double NANOS_PER_SECOND = 1e9;
  private static final long MAX_DEBT_NANOS = Long.MAX_VALUE / 2;

  private final double nanosPerUnit;
  private final long burstNanos;
  private long fullAtNanos;
  /// The fraction of a nanosecond that `fullAtNanos` lacks, so that many small elements do not pass free of charge.
  private double fractionNanos;

  /// @param burstUnits units that may pass at once after a pause
  public TokenBucket(long unitsPerSecond, long burstUnits, long nowNanos) {
    this.nanosPerUnit = NANOS_PER_SECOND / Checks.positive("unitsPerSecond", unitsPerSecond);
    this.burstNanos = (long) (Checks.positive("burstUnits", burstUnits) * nanosPerUnit);
    this.fullAtNanos = nowNanos;
  }

  /// Takes `units` and answers how long to wait until they may pass. Units above the burst pass when the bucket is
  /// full.
  ///
  /// @throws IllegalArgumentException if `units` is negative
  public long take(long units, long nowNanos) {
    long wait = waitNanos(units, nowNanos);
    double cost = units * nanosPerUnit + fractionNanos;
    if (cost < MAX_DEBT_NANOS - (fullAtNanos - nowNanos)) {
      move(cost);
    } else {
      fullAtNanos = nowNanos + MAX_DEBT_NANOS;
      fractionNanos = 0;
    }
    return wait;
  }

  private void move(double nanos) {
    long wholeNanos = (long) Math.floor(nanos);
    fullAtNanos += wholeNanos;
    fractionNanos = nanos - wholeNanos;
  }

  /// How long `units` would wait if they were taken now.
  ///
  /// @throws IllegalArgumentException if `units` is negative
  public long waitNanos(long units, long nowNanos) {
    Checks.notNegative("units", units);
    if (fullAtNanos - nowNanos < 0) {
      fullAtNanos = nowNanos;
      fractionNanos = 0;
    }
    long wholeNanos = (long) (units * nanosPerUnit + fractionNanos);
    return Math.max(0, fullAtNanos - nowNanos + Math.min(wholeNanos, burstNanos) - burstNanos);
  }

  /// Puts `units` back that were taken and did not pass.
  ///
  /// @throws IllegalArgumentException if `units` is negative
  public void giveBack(long units) {
    move(fractionNanos - Checks.notNegative("units", units) * nanosPerUnit);
  }
}
