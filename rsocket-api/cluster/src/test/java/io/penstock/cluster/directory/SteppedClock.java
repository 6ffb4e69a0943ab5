package io.penstock.cluster.directory;

import java.util.concurrent.TimeUnit;
import reactor.core.Disposable;
import reactor.core.scheduler.Scheduler;

/// A scheduler whose clock can be set; its delays pass as those of another one do.
final class SteppedClock implements Scheduler {
  private final Scheduler delays;
  private long aheadNanos;

  SteppedClock(Scheduler delays) {
    this.delays = delays;
  }

  /// Sets the clock, by so much ahead of what it was.
  void step(long nanos) {
    aheadNanos += nanos;
  }

  @Override
  public long now(TimeUnit unit) {
    return unit.convert(delays.now(TimeUnit.NANOSECONDS) + aheadNanos, TimeUnit.NANOSECONDS);
  }

  @Override
  public Disposable schedule(Runnable task) {
    return delays.schedule(task);
  }

  @Override
  public Disposable schedule(Runnable task, long delay, TimeUnit unit) {
    return delays.schedule(task, delay, unit);
  }

  @Override
  public Worker createWorker() {
    return delays.createWorker();
  }
}
