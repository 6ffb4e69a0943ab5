package io.penstock.storage;

import java.util.ArrayDeque;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/// Runs tasks one at a time, in order, on whichever thread is at it: one appending thread without a thread.
final class SerialExecutor implements Executor {
  private final ArrayDeque<Runnable> tasks = new ArrayDeque<>();
  private boolean running;

  @Override
  public void execute(Runnable task) {
    synchronized (this) {
      tasks.add(task);
      if (running) {
        return;
      }
      running = true;
    }
    for (Runnable next = next(); next != null; next = next()) {
      next.run();
    }
  }

  private synchronized @Nullable Runnable next() {
    Runnable next = tasks.poll();
    running = next != null;
    return next;
  }
}
