package io.penstock.operator;

import java.util.concurrent.atomic.AtomicInteger;

/// Runs one task as often as it is asked to, one run after the other. A run that asks for another at once does not
/// deepen the stack. Safe from any thread.
public final class Trampoline {
  private final AtomicInteger asked = new AtomicInteger();
  private final Runnable task;

  public Trampoline(Runnable task) {
    this.task = task;
  }

  /// Asks for one more run: here, unless a run is under way, whose thread then does this one, too.
  public void run() {
    if (asked.getAndIncrement() == 0) {
      runAll();
    }
  }

  private void runAll() {
    boolean again = true;
    try {
      while (again) {
        task.run();
        again = asked.decrementAndGet() != 0;
      }
    } finally {
      if (again && asked.decrementAndGet() != 0) { // it threw: the runs asked for meanwhile happen all the same
        runAll();
      }
    }
  }
}
