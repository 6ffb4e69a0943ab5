package io.penstock.block;

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

  static void within(String name, int value, int below) {
    if (value < 0 || value >= below) {
      throw new IndexOutOfBoundsException(name + " must be in [0, " + below + ") (was " + value + ")");
    }
  }
}
