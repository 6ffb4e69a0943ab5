package io.penstock.lab.bench.cluster;

import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/// Waits of the thread that drives a scenario, which is no event loop.
final class Waiting {
  private static final long LOOK_NANOS = 20_000_000;
  /// Between two looks of a scenario at what it waits for.
  static final Duration LOOK = Duration.ofMillis(100);

  private Waiting() {}

  /// Looks until `condition` holds.
  ///
  /// @return false if it did not within `patience`
  static boolean until(Duration patience, BooleanSupplier condition) {
    long began = System.nanoTime();
    while (!condition.getAsBoolean()) {
      if (System.nanoTime() - began > patience.toNanos()) {
        return false;
      }
      LockSupport.parkNanos(LOOK_NANOS);
    }
    return true;
  }

  /// Lets time pass.
  static void pass(Duration time) {
    until(time, () -> false);
  }

  static double seconds(long nanos) {
    return nanos / 1e9;
  }
}
