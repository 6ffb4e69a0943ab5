package io.penstock.operator;

import java.util.concurrent.atomic.AtomicInteger;

/// Runs one task as often as callers ask for it, one run after the other. A run that asks for another run does not
/// deepen the stack. Safe from any thread.
public final class Trampoline {
  private final AtomicInteger asked = new AtomicInteger();
  private final Runnable task;

  public Trampoline(Runnable task) {
    this.task = task;
  }

  /// Asks for one more run: on this thread, or, if a run is under way, on the thread of that run.
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
      if (again && asked.decrementAndGet() != 0) { // the task threw: the other runs happen all the same
        runAll();
      }
    }
  }
}
