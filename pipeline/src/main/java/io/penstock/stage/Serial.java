package io.penstock.stage;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;

/// Runs steps one at a time: a caller that finds another at work leaves the work to that one and returns.
///
/// It serialises signals without a lock held while they are sent, and flattens recursion.
final class Serial {
  private final AtomicInteger asked = new AtomicInteger();
  private final BooleanSupplier step;

  /// @param step does one piece of work, or answers false: there is none now
  Serial(BooleanSupplier step) {
    this.step = step;
  }

  /// Sees to it that steps run until there is nothing to do.
  void run() {
    if (asked.getAndIncrement() != 0) {
      return;
    }
    int seen = 1;
    do {
      while (step.getAsBoolean()) {
        continue;
      }
      seen = asked.addAndGet(-seen);
    } while (seen != 0);
  }
}
