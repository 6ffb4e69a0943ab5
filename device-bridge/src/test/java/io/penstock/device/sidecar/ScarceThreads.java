package io.penstock.device.sidecar;

import java.util.ArrayDeque;
import java.util.Deque;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.scheduler.Scheduler;

/// Workers on a system that has threads, or has them later, or has none.
public final class ScarceThreads implements Scheduler {
  private final Scheduler threads;
  private final Deque<Runnable> inLine = new ArrayDeque<>();
  private boolean isHeld;
  private boolean isNone;
  private Runnable onAsked = () -> {};

  public ScarceThreads(Scheduler threads) {
    this.threads = threads;
  }

  /// From now on scheduled work stays queued.
  public void hold() {
    isHeld = true;
  }

  /// Runs queued work, and work that it queues.
  public void run() {
    for (Runnable next = inLine.poll(); next != null; next = inLine.poll()) {
      next.run();
    }
  }

  /// From now on scheduled work is refused and stays queued nevertheless, as with the JDK's pools.
  public void none() {
    isNone = true;
  }

  /// There are threads again.
  public void again() {
    isNone = false;
  }

  /// Happens each time one is asked for.
  public void onAsked(Runnable happens) {
    onAsked = happens;
  }

  @Override
  public Disposable schedule(Runnable task) {
    onAsked.run();
    if (isNone || isHeld) {
      inLine.add(task);
    }
    if (isNone) {
      throw new OutOfMemoryError("unable to create native thread, as told");
    }
    return isHeld ? Disposables.disposed() : threads.schedule(task);
  }

  @Override
  public Worker createWorker() {
    return threads.createWorker();
  }
}
