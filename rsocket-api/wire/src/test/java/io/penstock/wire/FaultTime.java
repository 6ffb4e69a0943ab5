package io.penstock.wire;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;
import reactor.test.scheduler.VirtualTimeScheduler;

/// The time in which a [FaultRound] reaches its limits.
///
/// Virtual time stands still while anything moves, so a busy machine reaches no limit by itself, and no limit is waited
/// for: it passes once all that has not ended may wait, and nothing has moved for a moment. Delays below a second are
/// real all the same, so that second attempts meet what is under way.
final class FaultTime implements AutoCloseable {
  private static final long QUIET_NANOS = 100_000_000;
  /// What is stuck behind something else cannot say so.
  private static final long STUCK_NANOS = 3_000_000_000L;
  private static final long STEP_QUIET_NANOS = 20_000_000;
  private static final Duration STEP = Duration.ofSeconds(1);

  /// What a round does.
  interface Progress {
    /// Grows with all that moves.
    long moved();

    /// Whether all that has not ended may end by a limit.
    boolean mayWait();
  }

  private final Scheduler real = Schedulers.newSingle("timers", true);
  private final @Nullable VirtualTimeScheduler virtual;

  private FaultTime(@Nullable VirtualTimeScheduler virtual) {
    this.virtual = virtual;
  }

  static FaultTime real() {
    return new FaultTime(null);
  }

  /// Takes Reactor's default schedulers, too, until it is closed: RSocket's keep-alive is theirs.
  static FaultTime virtual() {
    return new FaultTime(VirtualTimeScheduler.getOrSet());
  }

  Scheduler timers() {
    VirtualTimeScheduler late = virtual;
    return late == null ? real : new Timers(real, late);
  }

  /// Lets time pass for `progress` until the answer is closed.
  Disposable passing(Progress progress) {
    VirtualTimeScheduler time = virtual;
    if (time == null) {
      return () -> {};
    }
    Thread passing = Thread.ofPlatform().daemon().name("time").start(() -> pass(time, progress));
    return passing::interrupt;
  }

  private static void pass(VirtualTimeScheduler time, Progress progress) {
    while (awaitQuiet(progress)) {
      time.advanceTimeBy(STEP);
    }
  }

  /// False when time must stop.
  private static boolean awaitQuiet(Progress progress) {
    long moved = progress.moved();
    long since = System.nanoTime();
    long least = STEP_QUIET_NANOS;
    while (!Thread.currentThread().isInterrupted()) {
      LockSupport.parkNanos(STEP_QUIET_NANOS);
      long now = progress.moved();
      if (now != moved) {
        moved = now;
        since = System.nanoTime();
        least = QUIET_NANOS;
      }
      long quiet = System.nanoTime() - since;
      if (quiet >= STUCK_NANOS || (quiet >= least && progress.mayWait())) {
        return true;
      }
    }
    return false;
  }

  @Override
  public void close() {
    real.dispose();
    if (virtual != null) {
      VirtualTimeScheduler.reset();
    }
  }

  private record Timers(Scheduler soon, VirtualTimeScheduler late) implements Scheduler {
    @Override
    public Disposable schedule(Runnable task) {
      return soon.schedule(task);
    }

    @Override
    public Disposable schedule(Runnable task, long delay, TimeUnit unit) {
      return (unit.toMillis(delay) < 1000 ? soon : late).schedule(task, delay, unit);
    }

    @Override
    public long now(TimeUnit unit) {
      return late.now(unit);
    }

    @Override
    public Worker createWorker() {
      return late.createWorker();
    }
  }
}
