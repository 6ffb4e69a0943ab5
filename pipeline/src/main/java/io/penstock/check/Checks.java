package io.penstock.check;

import static java.util.Objects.requireNonNull;

import java.time.Duration;

/// Argument checks with one message form: *name must be rule (was value)*, in an [IllegalArgumentException]. Each check
/// returns its valid argument.
public final class Checks {
  private Checks() {}

  public static int positive(String name, int value) {
    positive(name, (long) value);
    return value;
  }

  public static long positive(String name, long value) {
    if (value <= 0) {
      throw new IllegalArgumentException(name + " must be > 0 (was " + value + ")");
    }
    return value;
  }

  public static Duration positive(String name, Duration value) {
    if (!requireNonNull(value, name).isPositive()) {
      throw new IllegalArgumentException(name + " must be > 0 (was " + value + ")");
    }
    return value;
  }

  /// Checks a time to wait: timers count in milliseconds.
  public static Duration atLeastOneMilli(String name, Duration value) {
    if (requireNonNull(value, name).toMillis() < 1) {
      throw new IllegalArgumentException(name + " must be >= 1 ms (was " + value + ")");
    }
    return value;
  }

  public static int notNegative(String name, int value) {
    notNegative(name, (long) value);
    return value;
  }

  public static long notNegative(String name, long value) {
    if (value < 0) {
      throw new IllegalArgumentException(name + " must be >= 0 (was " + value + ")");
    }
    return value;
  }

  public static Duration notNegative(String name, Duration value) {
    if (requireNonNull(value, name).isNegative()) {
      throw new IllegalArgumentException(name + " must be >= 0 (was " + value + ")");
    }
    return value;
  }

  /// Checks an index.
  public static void within(String name, int value, int below) {
    if (value < 0 || value >= below) {
      throw new IndexOutOfBoundsException(name + " must be in [0, " + below + ") (was " + value + ")");
    }
  }
}
