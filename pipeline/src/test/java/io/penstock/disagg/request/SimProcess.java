package io.penstock.disagg.request;

import io.penstock.operator.LiveTimers;
import io.penstock.system.LiveClock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import reactor.core.Disposable;
import reactor.core.scheduler.Scheduler;
import reactor.test.scheduler.VirtualTimeScheduler;

/// A process of a simulated world that may stand still, as after SIGSTOP. Messages and timers that are due meanwhile
/// wait. When the process goes on, they run in any order, before what comes later.
final class SimProcess implements Scheduler {
  private final VirtualTimeScheduler world;
  private final Random random;
  private final List<Runnable> waiting = new ArrayList<>();
  private final LiveClock clock;
  final Scheduler timers;
  private boolean stopped;
  private long stoppedNanos;
  private long wokenNanos = Long.MIN_VALUE / 2;
  private Duration standstill = Duration.ZERO;

  /// @param isLive whether the process judges by a clock that stops with it
  SimProcess(VirtualTimeScheduler world, Random random, boolean isLive) {
    this.world = world;
    this.random = random;
    this.clock = new LiveClock(() -> world.now(TimeUnit.NANOSECONDS));
    this.timers = isLive ? LiveTimers.of(this, clock) : this;
    clock.reads(this::schedule);
    tickLater();
  }

  private void tickLater() {
    Disposable unused = schedule(() -> {
      clock.tick();
      tickLater();
    }, LiveClock.TICK.toNanos(), TimeUnit.NANOSECONDS);
  }

  /// Runs `task` in this process, as soon as it runs.
  void run(Runnable task) {
    if (stopped) {
      waiting.add(task);
    } else {
      task.run();
    }
  }

  void stop() {
    stopped = true;
    stoppedNanos = world.now(TimeUnit.NANOSECONDS);
  }

  void goOn() {
    stopped = false;
    wokenNanos = world.now(TimeUnit.NANOSECONDS);
    standstill = Duration.ofNanos(wokenNanos - stoppedNanos);
    Collections.shuffle(waiting, random);
    List<Runnable> due = List.copyOf(waiting);
    waiting.clear();
    due.forEach(this::schedule);
  }

  /// Whether this process stood still for at least `least`, and not longer than `ago` before.
  boolean stoodStill(Duration least, Duration ago) {
    long now = world.now(TimeUnit.NANOSECONDS);
    return stopped
        ? now - stoppedNanos >= least.toNanos()
        : standstill.compareTo(least) >= 0 && now - wokenNanos <= ago.toNanos();
  }

  @Override
  public long now(TimeUnit unit) {
    return world.now(unit);
  }

  @Override
  public Disposable schedule(Runnable task) {
    return world.schedule(() -> run(task));
  }

  @Override
  public Disposable schedule(Runnable task, long delay, TimeUnit unit) {
    return world.schedule(() -> run(task), delay, unit);
  }

  @Override
  public Disposable schedulePeriodically(Runnable task, long initialDelay, long period, TimeUnit unit) {
    return world.schedulePeriodically(() -> run(task), initialDelay, period, unit);
  }

  @Override
  public Worker createWorker() {
    Worker worker = world.createWorker();
    return new Worker() {
      @Override
      public Disposable schedule(Runnable task) {
        return worker.schedule(() -> run(task));
      }

      @Override
      public Disposable schedule(Runnable task, long delay, TimeUnit unit) {
        return worker.schedule(() -> run(task), delay, unit);
      }

      @Override
      public void dispose() {
        worker.dispose();
      }
    };
  }
}
