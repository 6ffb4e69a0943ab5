package io.penstock.stage;

import static java.util.Objects.requireNonNull;

import java.time.Duration;

/// Argument checks with one message form: *name must be rule (was value)*.
final class Checks {
  private Checks() {}

  static int positive(String name, int value) {
    if (value <= 0) {
      throw new IllegalArgumentException(name + " must be > 0 (was " + value + ")");
    }
    return value;
  }

  static long positive(String name, long value) {
    if (value <= 0) {
      throw new IllegalArgumentException(name + " must be > 0 (was " + value + ")");
    }
    return value;
  }

  static int notNegative(String name, int value) {
    if (value < 0) {
      throw new IllegalArgumentException(name + " must be >= 0 (was " + value + ")");
    }
    return value;
  }

  static Duration positive(String name, Duration value) {
    requireNonNull(value, name);
    if (value.isNegative() || value.isZero()) {
      throw new IllegalArgumentException(name + " must be > 0 (was " + value + ")");
    }
    return value;
  }
}
