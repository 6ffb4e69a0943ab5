package io.penstock.storage.engine;

/// Argument checks with one message form: *name must be rule (was value)*.
final class Checks {
  private Checks() {}

  static void positive(String name, long value) {
    if (value <= 0) {
      throw new IllegalArgumentException(name + " must be > 0 (was " + value + ")");
    }
  }

  static void notNegative(String name, long value) {
    if (value < 0) {
      throw new IllegalArgumentException(name + " must be >= 0 (was " + value + ")");
    }
  }
}
