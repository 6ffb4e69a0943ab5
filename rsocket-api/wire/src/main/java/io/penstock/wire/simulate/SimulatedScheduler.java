package io.penstock.wire.simulate;

import java.util.concurrent.TimeUnit;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.Exceptions;
import reactor.core.scheduler.Scheduler;

/// Reactor's view of [SimulatedTime]: each worker is a lane whose tasks keep their order.
final class SimulatedScheduler implements Scheduler {
  private final SimulatedTime time;

  SimulatedScheduler(SimulatedTime time) {
    this.time = time;
  }

  @Override
  public Disposable schedule(Runnable task) {
    return time.add(new SimulatedTime.SimulatedLane(), task, 0, 0);
  }

  @Override
  public Disposable schedule(Runnable task, long delay, TimeUnit unit) {
    return time.add(new SimulatedTime.SimulatedLane(), task, SimulatedTime.toNanos(delay, unit), 0);
  }

  @Override
  public Disposable schedulePeriodically(Runnable task, long initialDelay, long period, TimeUnit unit) {
    return time.add(new SimulatedTime.SimulatedLane(), task, SimulatedTime.toNanos(initialDelay, unit),
        period(period, unit));
  }

  @Override
  public long now(TimeUnit unit) {
    return unit.convert(time.nanos(), TimeUnit.NANOSECONDS);
  }

  @Override
  public Worker createWorker() {
    return new Lane(time);
  }

  private static long period(long period, TimeUnit unit) {
    return Math.max(1, SimulatedTime.toNanos(period, unit)); // a period of nothing would hold the clock for ever
  }

  private static final class Lane implements Worker {
    private final SimulatedTime time;
    private final SimulatedTime.SimulatedLane lane = new SimulatedTime.SimulatedLane();
    private final Disposable.Composite tasks = Disposables.composite();

    Lane(SimulatedTime time) {
      this.time = time;
    }

    @Override
    public Disposable schedule(Runnable task) {
      return schedule(task, 0, TimeUnit.NANOSECONDS);
    }

    @Override
    public Disposable schedule(Runnable task, long delay, TimeUnit unit) {
      requireOpen();
      OneShot once = new OneShot(task, tasks);
      once.waiting = time.add(lane, once, SimulatedTime.toNanos(delay, unit), 0);
      tasks.add(once);
      return once;
    }

    @Override
    public Disposable schedulePeriodically(Runnable task, long initialDelay, long period, TimeUnit unit) {
      requireOpen();
      SimulatedTask periodic = time.add(lane, task, SimulatedTime.toNanos(initialDelay, unit), period(period, unit));
      tasks.add(periodic);
      return periodic;
    }

    @Override
    public void dispose() {
      tasks.dispose();
    }

    @Override
    public boolean isDisposed() {
      return tasks.isDisposed();
    }

    private void requireOpen() {
      if (tasks.isDisposed()) {
        throw Exceptions.failWithRejected();
      }
    }
  }

  /// A task that forgets itself when it ran, so that a long-lived worker keeps no list of its past.
  private static final class OneShot implements Runnable, Disposable {
    private final Runnable action;
    private final Disposable.Composite owner;
    private Disposable waiting = Disposables.disposed();

    OneShot(Runnable action, Disposable.Composite owner) {
      this.action = action;
      this.owner = owner;
    }

    @Override
    public void run() {
      owner.remove(this);
      action.run();
    }

    @Override
    public void dispose() {
      waiting.dispose();
      owner.remove(this);
    }

    @Override
    public boolean isDisposed() {
      return waiting.isDisposed();
    }
  }
}
