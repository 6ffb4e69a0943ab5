package io.penstock.tier;

import java.util.concurrent.atomic.AtomicInteger;

/// Starts something, and again after each that ended at once, which so does not deepen the stack. Safe from any thread.
final class Starts {
  private final AtomicInteger asked = new AtomicInteger();
  private final Runnable one;

  Starts(Runnable one) {
    this.one = one;
  }

  /// One more; runs here unless somebody is starting already, who then starts this one, too.
  void more() {
    if (asked.getAndIncrement() == 0) {
      run();
    }
  }

  private void run() {
    boolean again = true;
    try {
      while (again) {
        one.run();
        again = asked.decrementAndGet() != 0;
      }
    } finally {
      if (again && asked.decrementAndGet() != 0) { // it threw: what was asked for meanwhile is started all the same
        run();
      }
    }
  }
}
