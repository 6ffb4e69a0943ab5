package io.penstock.operator;

import static java.util.Objects.requireNonNull;

import io.penstock.system.LiveClock;
import java.time.Duration;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Flux;
import reactor.core.publisher.FluxSink;
import reactor.core.scheduler.Scheduler;

/// Timers by which the silence of others is judged: a scheduler whose delays pass by a [LiveClock].
///
/// A task that becomes due while the process stands still runs when the rest of its delay has passed afterwards, and a
/// periodic task runs once for a standstill, not once for each period of it. Tasks without a delay run at once.
public final class LiveTimers implements Scheduler {
  /// Minimum wait of a task that the clock holds: it must not spin until the clock goes on.
  private static final long LEAST_WAIT_NANOS = LiveClock.TICK.toNanos() / 10;

  private final Scheduler scheduler;
  private final LiveClock clock;

  private LiveTimers(Scheduler scheduler, LiveClock clock) {
    this.scheduler = requireNonNull(scheduler, "scheduler");
    this.clock = requireNonNull(clock, "clock");
  }

  /// Timers by the clock of this process.
  ///
  /// @param scheduler runs the tasks; disposed with the timers
  public static LiveTimers of(Scheduler scheduler) {
    return of(scheduler, LiveClock.process());
  }

  /// Timers by another clock.
  public static LiveTimers of(Scheduler scheduler, LiveClock clock) {
    return new LiveTimers(scheduler, clock);
  }

  /// Emits the length of each standstill of the process to which `timers` belong, on a thread of them. Renewals and
  /// heartbeats that may have come too late are sent there.
  ///
  /// @return hot; never emits for timers of another kind. A subscriber without demand misses elements
  public static Flux<Duration> wakes(Scheduler timers) {
    return timers instanceof LiveTimers live
        ? Flux.create(sink -> sink.onDispose(live.clock.onWake(late -> live.tell(sink, late))::run),
            FluxSink.OverflowStrategy.DROP)
        : Flux.never();
  }

  /// Timers for what this process promised to others, such as heartbeats: they go on during a standstill, so what
  /// became due meanwhile runs at once.
  ///
  /// @return the scheduler under `timers`; `timers` of another kind
  public static Scheduler promises(Scheduler timers) {
    return timers instanceof LiveTimers live ? live.scheduler : timers;
  }

  private void tell(FluxSink<Duration> sink, Duration late) {
    try {
      Disposable unused = scheduler.schedule(() -> sink.next(late));
    } catch (RejectedExecutionException e) { // the timers have ended
      sink.complete();
    }
  }

  @Override
  public long now(TimeUnit unit) {
    return unit.convert(clock.nanos(), TimeUnit.NANOSECONDS);
  }

  @Override
  public Disposable schedule(Runnable task) {
    return scheduler.schedule(task);
  }

  @Override
  public Disposable schedule(Runnable task, long delay, TimeUnit unit) {
    return new Timed(scheduler::schedule, task, unit.toNanos(delay), 0).begun();
  }

  @Override
  public Disposable schedulePeriodically(Runnable task, long initialDelay, long period, TimeUnit unit) {
    return new Timed(scheduler::schedule, task, unit.toNanos(initialDelay), periodNanos(period, unit)).begun();
  }

  private static long periodNanos(long period, TimeUnit unit) {
    return Math.max(1, unit.toNanos(period));
  }

  @Override
  public Worker createWorker() {
    return new LiveWorker(scheduler.createWorker());
  }

  @Override
  public void dispose() {
    scheduler.dispose();
  }

  @Override
  public boolean isDisposed() {
    return scheduler.isDisposed();
  }

  private final class LiveWorker implements Worker {
    private final Worker worker;

    LiveWorker(Worker worker) {
      this.worker = worker;
    }

    @Override
    public Disposable schedule(Runnable task) {
      return worker.schedule(task);
    }

    @Override
    public Disposable schedule(Runnable task, long delay, TimeUnit unit) {
      return new Timed(worker::schedule, task, unit.toNanos(delay), 0).begun();
    }

    @Override
    public Disposable schedulePeriodically(Runnable task, long initialDelay, long period, TimeUnit unit) {
      return new Timed(worker::schedule, task, unit.toNanos(initialDelay), periodNanos(period, unit)).begun();
    }

    @Override
    public void dispose() {
      worker.dispose();
    }

    @Override
    public boolean isDisposed() {
      return worker.isDisposed();
    }
  }

  @FunctionalInterface
  private interface Delays {
    Disposable schedule(Runnable task, long delay, TimeUnit unit);
  }

  /// A task with the moment at which it is due.
  private final class Timed implements Runnable, Disposable {
    private final Delays delays;
    private final Runnable task;
    /// 0 for a task that runs once.
    private final long periodNanos;
    private final Disposable.Swap waiting = Disposables.swap();
    private long dueNanos;

    Timed(Delays delays, Runnable task, long delayNanos, long periodNanos) {
      this.delays = delays;
      this.task = requireNonNull(task, "task");
      this.periodNanos = periodNanos;
      this.dueNanos = clock.nanos() + Math.max(0, delayNanos);
    }

    /// @throws RejectedExecutionException if the scheduler has ended
    Timed begun() {
      waiting.replace(delays.schedule(this, Math.max(0, dueNanos - clock.nanos()), TimeUnit.NANOSECONDS));
      return this;
    }

    @Override
    public void run() {
      long now = clock.nanos();
      if (waiting.isDisposed()) {
        return;
      } else if (dueNanos - now > 0) {
        again(Math.max(dueNanos - now, LEAST_WAIT_NANOS));
        return;
      }
      if (periodNanos == 0) {
        task.run();
        return;
      }
      dueNanos = Math.max(dueNanos - now + periodNanos, 1) + now;
      try {
        task.run();
      } finally {
        again(Math.max(0, dueNanos - clock.nanos()));
      }
    }

    private void again(long delayNanos) {
      try {
        waiting.replace(delays.schedule(this, delayNanos, TimeUnit.NANOSECONDS));
      } catch (RejectedExecutionException e) { // the scheduler has ended, and its tasks with it
        dispose();
      }
    }

    @Override
    public void dispose() {
      waiting.dispose();
    }

    @Override
    public boolean isDisposed() {
      return waiting.isDisposed();
    }
  }
}
