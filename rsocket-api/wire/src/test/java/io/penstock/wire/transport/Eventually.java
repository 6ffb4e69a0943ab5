package io.penstock.wire.transport;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/// Waits for what other threads bring about, no longer than ten seconds.
public final class Eventually {
  private Eventually() {}

  public static void holds(String what, BooleanSupplier condition) {
    holds(what, condition, () -> "");
  }

  public static void holds(String what, BooleanSupplier condition, Supplier<String> detail) {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(10);
    while (!condition.getAsBoolean()) {
      if (System.nanoTime() - deadline > 0) {
        throw new AssertionError("after 10 s it must hold that " + what + " (was not) " + detail.get());
      }
      LockSupport.parkNanos(200_000);
    }
  }
}
