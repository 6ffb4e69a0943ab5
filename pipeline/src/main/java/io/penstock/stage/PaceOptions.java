package io.penstock.stage;

import io.penstock.block.Checks;

/// How fast [Pace] lets elements pass: a token bucket.
///
/// @param unitsPerSecond units, bytes or elements, that become free each second
/// @param burstUnits units that may pass at once after a pause
public record PaceOptions(long unitsPerSecond, long burstUnits) {
  public PaceOptions {
    Checks.positive("unitsPerSecond", unitsPerSecond);
    Checks.positive("burstUnits", burstUnits);
  }

  /// A burst of 10 ms: more than timers usually are late.
  public static PaceOptions of(long unitsPerSecond) {
    return new PaceOptions(unitsPerSecond, Math.max(1, unitsPerSecond / 100));
  }

  public PaceOptions withBurstUnits(long burstUnits) {
    return new PaceOptions(unitsPerSecond, burstUnits);
  }
}
