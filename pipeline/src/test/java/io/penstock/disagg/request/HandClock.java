package io.penstock.disagg.request;

import java.util.PriorityQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;
import reactor.core.scheduler.Scheduler;

/// A scheduler whose clock stands still until the test moves it, and may pass many tasks in one step.
public final class HandClock implements Scheduler {
  private record Task(long at, int number, Runnable work) {}

  private final PriorityQueue<Task> tasks = new PriorityQueue<>((a, b) -> {
    int order = Long.compare(a.at, b.at);
    return order == 0 ? Integer.compare(a.number, b.number) : order;
  });
  private long now;
  private int scheduled;

  public HandClock(long now) {
    this.now = now;
  }

  @Override
  public synchronized long now(TimeUnit unit) {
    return unit.convert(now, TimeUnit.NANOSECONDS);
  }

  @Override
  public Disposable schedule(Runnable work) {
    return schedule(work, 0, TimeUnit.NANOSECONDS);
  }

  @Override
  public synchronized Disposable schedule(Runnable work, long delay, TimeUnit unit) {
    Task task = new Task(now + unit.toNanos(delay), scheduled++, work);
    tasks.add(task);
    return () -> {
      synchronized (this) {
        tasks.remove(task);
      }
    };
  }

  @Override
  public Worker createWorker() {
    throw new UnsupportedOperationException("a timer wheel schedules without a worker");
  }

  synchronized int waiting() {
    return tasks.size();
  }

  synchronized int scheduled() {
    return scheduled;
  }

  /// Moves the clock in one step, then runs the tasks that are late.
  public void advance(long nanos) {
    synchronized (this) {
      now += nanos;
    }
    for (Task task = late(); task != null; task = late()) {
      task.work.run();
    }
  }

  private synchronized @Nullable Task late() {
    return tasks.isEmpty() || tasks.peek().at > now ? null : tasks.poll();
  }
}
