package io.penstock.wire.simulate;

import static java.util.Objects.requireNonNull;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;
import java.util.SplittableRandom;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/// The clock of a simulated world and the one thread of all its events.
///
/// Tasks of one worker run in the order of their due times, and of their scheduling where those are equal; among
/// workers that have a task due at one moment the seed chooses. Equal seeds and calls give equal runs. Tasks take no
/// virtual time.
///
/// Not thread-safe, on purpose: a task scheduled from another thread is refused, for it would make the run a chance.
public final class SimulatedTime {
  private static final Comparator<SimulatedTask> BY_DUE =
      Comparator.<SimulatedTask>comparingLong(task -> task.dueNanos).thenComparingLong(task -> task.number);

  private final long seed;
  private final RandomGenerator ties;
  private final PriorityQueue<SimulatedTask> later = new PriorityQueue<>(BY_DUE);
  private final List<SimulatedLane> ready = new ArrayList<>();
  private final SimulatedScheduler scheduler = new SimulatedScheduler(this);

  private long nowNanos;
  private long tasks;
  private long steps;
  private int oneShots;
  private @Nullable Thread runner;

  public SimulatedTime(long seed) {
    this.seed = seed;
    this.ties = random("ties");
  }

  /// Schedules into this world; disposing it does nothing.
  public Scheduler scheduler() {
    return scheduler;
  }

  /// The world's clock; it starts at the epoch.
  public InstantSource clock() {
    return () -> Instant.ofEpochSecond(0, nowNanos);
  }

  /// Virtual time since the start.
  public long nanos() {
    return nowNanos;
  }

  public long seed() {
    return seed;
  }

  /// Tasks run so far.
  public long steps() {
    return steps;
  }

  /// Randomness of its own for one purpose: drawing more for one never changes what another draws.
  public RandomGenerator random(String purpose) {
    long mixed = seed;
    for (int i = 0; i < purpose.length(); i++) {
      mixed = 0x9E37_79B9_7F4A_7C15L * (mixed ^ purpose.charAt(i));
    }
    return new SplittableRandom(mixed);
  }

  /// Runs until only periodic tasks wait (keep-alive never ends), moving the clock from one task to the next.
  ///
  /// @throws IllegalStateException if that takes more than `maxSteps` tasks: the world is running in circles
  /// @throws SimulationFailedException if a task failed
  public void runUntilIdle(long maxSteps) {
    runWhile(() -> oneShots > 0, Long.MAX_VALUE, maxSteps);
  }

  /// [#runUntilIdle(long)] with 10 million steps.
  public void runUntilIdle() {
    runUntilIdle(10_000_000);
  }

  /// Runs until `done`, or until `limit` of virtual time has passed; true if it is done.
  public boolean runUntil(BooleanSupplier done, Duration limit) {
    runWhile(() -> !done.getAsBoolean(), Math.addExact(nowNanos, limit.toNanos()), Long.MAX_VALUE);
    return done.getAsBoolean();
  }

  /// Runs tasks that are due within `step` from now and leaves the clock there.
  public void advance(Duration step) {
    long end = Math.addExact(nowNanos, step.toNanos());
    runWhile(() -> true, end, Long.MAX_VALUE);
    nowNanos = end;
  }

  /// Makes Reactor's default schedulers those of this world until closed: RSocket core takes its keep-alive and set-up
  /// timers from there. It holds for the whole JVM, so one simulation captures at a time, and threads outside it must
  /// not use the defaults.
  public CapturedDefaults captureDefaults() {
    return new CapturedDefaults(Schedulers.setFactoryWithSnapshot(new Factory(scheduler)));
  }

  SimulatedTask add(SimulatedLane lane, Runnable action, long delayNanos, long periodNanos) {
    requireRunner();
    SimulatedTask task = new SimulatedTask(this, lane, requireNonNull(action, "action"), periodNanos);
    put(task, delayNanos);
    return task;
  }

  private void put(SimulatedTask task, long delayNanos) {
    task.dueNanos = Math.addExact(nowNanos, Math.max(0, delayNanos));
    task.number = tasks++;
    task.waiting = true;
    if (task.periodNanos == 0) {
      oneShots++;
    }
    if (delayNanos <= 0) {
      makeReady(task);
    } else {
      later.add(task);
    }
  }

  /// Marks a task that must not run any more; it leaves the queue when its turn comes.
  void cancelled(SimulatedTask task) {
    if (task.waiting) {
      task.waiting = false;
      if (task.periodNanos == 0) {
        oneShots--;
      }
    }
  }

  private void makeReady(SimulatedTask task) {
    if (task.lane.due.isEmpty()) {
      ready.add(task.lane);
    }
    task.lane.due.add(task);
  }

  private void runWhile(BooleanSupplier wanted, long endNanos, long maxSteps) {
    if (runner != null) {
      throw new IllegalStateException(
          "a simulation must not be run from one of its own tasks (was at " + nowNanos + " ns)");
    }
    runner = Thread.currentThread();
    try {
      long last = steps + maxSteps < 0 ? Long.MAX_VALUE : steps + maxSteps;
      while (wanted.getAsBoolean() && moveTo(endNanos)) {
        if (steps == last) {
          throw new IllegalStateException(
              "seed " + seed + ": idle must come within " + maxSteps + " steps (was not at " + nowNanos + " ns)");
        }
        runOne();
      }
    } finally {
      runner = null;
    }
  }

  /// Makes a task ready, moving the clock if needed; false if no task is due until `endNanos`.
  private boolean moveTo(long endNanos) {
    sweep();
    if (ready.isEmpty()) {
      SimulatedTask next = later.peek();
      if (next == null || next.dueNanos > endNanos) {
        return false;
      }
      nowNanos = next.dueNanos;
    }
    for (SimulatedTask next = later.peek(); next != null && next.dueNanos <= nowNanos; next = later.peek()) {
      later.remove();
      if (next.waiting) {
        makeReady(next);
      }
    }
    return true;
  }

  private void sweep() {
    for (SimulatedTask next = later.peek(); next != null && !next.waiting; next = later.peek()) {
      later.remove();
    }
  }

  private void runOne() {
    int chosen = ready.size() == 1 ? 0 : ties.nextInt(ready.size());
    SimulatedLane lane = ready.get(chosen);
    SimulatedTask task = lane.due.remove();
    if (lane.due.isEmpty()) {
      SimulatedLane last = ready.remove(ready.size() - 1);
      if (chosen < ready.size()) {
        ready.set(chosen, last);
      }
    }
    if (task.waiting) {
      run(task);
    }
  }

  private void run(SimulatedTask task) {
    steps++;
    cancelled(task); // it no longer waits
    try {
      task.action.run();
    } catch (Throwable failure) {
      throw new SimulationFailedException(seed, nowNanos, failure);
    }
    if (task.periodNanos > 0 && !task.isDisposed()) {
      put(task, task.periodNanos);
    }
  }

  private void requireRunner() {
    Thread running = runner;
    if (running != null && !running.equals(Thread.currentThread())) {
      throw new IllegalStateException(
          "a simulated task must be scheduled by " + running + " (was " + Thread.currentThread() + ")");
    }
  }

  /// The default schedulers in the hands of one simulation.
  public static final class CapturedDefaults implements AutoCloseable {
    private final Schedulers.Snapshot before;

    private CapturedDefaults(Schedulers.Snapshot before) {
      this.before = before;
    }

    /// Gives the default schedulers back.
    @Override
    public void close() {
      Schedulers.resetFrom(before);
    }
  }

  private record Factory(Scheduler scheduler) implements Schedulers.Factory {
    @Override
    public Scheduler newBoundedElastic(int threads, int queued, ThreadFactory factory, int ttlSeconds) {
      return scheduler;
    }

    @Override
    public Scheduler newThreadPerTaskBoundedElastic(int threads, int queued, ThreadFactory factory) {
      return scheduler;
    }

    @Override
    public Scheduler newParallel(int parallelism, ThreadFactory factory) {
      return scheduler;
    }

    @Override
    public Scheduler newSingle(ThreadFactory factory) {
      return scheduler;
    }
  }

  /// Tasks of one worker that are due now, in order.
  static final class SimulatedLane {
    final ArrayDeque<SimulatedTask> due = new ArrayDeque<>();
  }

  static long toNanos(long amount, TimeUnit unit) {
    return Math.max(0, unit.toNanos(amount));
  }
}
