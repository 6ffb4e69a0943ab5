package io.penstock.testkit;

import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;

/// Waits for what other threads or processes bring about, and fails when it takes too long. A wait in a test has a
/// bound.
public final class Eventually {
  /// So long that a busy machine does not matter.
  private static final Duration PATIENCE = Duration.ofSeconds(30);
  /// Looks before the thread gives the processor to others.
  private static final int SPINS = 1000;
  private static final long PAUSE_NANOS = 200_000;

  private Eventually() {}

  /// Returns when `condition` holds.
  ///
  /// @param what must hold, for the error
  /// @throws AssertionError if it does not hold after 30 s, or throws
  public static void holds(String what, Callable<Boolean> condition) {
    holds(what, PATIENCE, condition, () -> "");
  }

  /// @param detail added to the error
  public static void holds(String what, Callable<Boolean> condition, Supplier<String> detail) {
    holds(what, PATIENCE, condition, detail);
  }

  /// @param patience longest wait
  public static void holds(String what, Duration patience, Callable<Boolean> condition) {
    holds(what, patience, condition, () -> "");
  }

  private static void holds(String what, Duration patience, Callable<Boolean> condition, Supplier<String> detail) {
    long began = System.nanoTime();
    for (int looks = 0; !isTrue(what, condition); looks++) {
      if (System.nanoTime() - began > patience.toNanos()) {
        throw new AssertionError("within " + patience + " it must hold that " + what + " (did not) " + detail.get());
      }
      if (looks < SPINS) {
        Thread.onSpinWait();
      } else {
        LockSupport.parkNanos(PAUSE_NANOS);
      }
    }
  }

  private static boolean isTrue(String what, Callable<Boolean> condition) {
    try {
      return condition.call();
    } catch (RuntimeException e) {
      throw e;
    } catch (Exception e) {
      throw new AssertionError("it must be known whether " + what, e);
    }
  }
}
