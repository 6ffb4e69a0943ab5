package io.penstock.system;

import static java.util.Objects.requireNonNull;

import io.penstock.check.Uncaught;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.function.LongSupplier;

/// A clock that stops while its process stands still: stopped by a signal, in a paused container, in a long collection.
///
/// `System.nanoTime()` goes on during such a standstill. A limit that is measured with it ends a peer that was silent
/// for no moment: its messages wait in sockets that the judge has not read. So the silence of others is measured with
/// this clock, and a promise to others (a heartbeat, a renewal, a drain) with `System.nanoTime()`.
///
/// The clock gets a tick each [#TICK]. It advances no further than [#MOST_LATE] beyond the last tick, so no thread
/// reads a time that the standstill is part of, whichever thread runs first. The tick that comes later takes the excess
/// out, and holds the clock until all readers have run some tasks, one after another: what waited in their sockets is
/// read before a peer is judged.
///
/// Moments are compared by their difference. Safe from any thread.
public final class LiveClock {
  /// Time between two ticks.
  public static final Duration TICK = Duration.ofMillis(100);
  /// Maximum part of a standstill that counts.
  public static final Duration MOST_LATE = TICK.multipliedBy(3);

  private static final long MOST_LATE_NANOS = MOST_LATE.toNanos();
  private static final int ROUNDS = 3;
  /// Maximum ticks for which readers hold the clock: one whose thread is stuck must not hold it for ever.
  private static final int MOST_HELD = 100;

  private final LongSupplier nanos;
  private final Set<Executor> readers = ConcurrentHashMap.newKeySet();
  private final List<Consumer<Duration>> listeners = new CopyOnWriteArrayList<>();
  private volatile State state;
  // The rest belongs to the thread that ticks
  private AtomicInteger unread = new AtomicInteger();
  private int rounds;
  private int held;

  /// @param limit latest moment of the underlying clock that counts before the next tick
  /// @param gone time that was taken out
  private record State(long limit, long gone) {}

  private static final class Process {
    static final LiveClock CLOCK = ticking();

    private static LiveClock ticking() {
      LiveClock clock = new LiveClock(System::nanoTime);
      Thread.ofPlatform().daemon().name("penstock-clock").start(() -> {
        while (true) {
          LockSupport.parkNanos(TICK.toNanos());
          clock.tick();
        }
      });
      return clock;
    }
  }

  /// A clock that is ticked by its owner.
  ///
  /// @param nanos runs during a standstill
  public LiveClock(LongSupplier nanos) {
    this.nanos = requireNonNull(nanos, "nanos");
    this.state = new State(nanos.getAsLong() + MOST_LATE_NANOS, 0);
  }

  /// The clock of this process. A thread of its own ticks it from the first call on.
  public static LiveClock process() {
    return Process.CLOCK;
  }

  /// Nanoseconds since some moment, without the time in which the process stood still.
  public long nanos() {
    State now = state;
    long raw = nanos.getAsLong();
    return (raw - now.limit() < 0 ? raw : now.limit()) - now.gone();
  }

  /// Makes the clock wait for `reader` after each standstill, until [#forget(Executor)].
  ///
  /// @param reader runs its tasks on a thread that reads sockets, between two reads
  /// @return false if the clock waits for it already
  public boolean reads(Executor reader) {
    return readers.add(reader);
  }

  public void forget(Executor reader) {
    readers.remove(reader);
  }

  /// Calls `listener` after each standstill with its length, on the thread that ticks, while the clock is held. A party
  /// that stood still renews there what it promised to others.
  ///
  /// @return removes the listener
  public Runnable onWake(Consumer<Duration> listener) {
    listeners.add(listener);
    return () -> listeners.remove(listener);
  }

  /// Advances the clock. To be called each [#TICK], by one thread.
  public void tick() {
    State before = state;
    long now = nanos.getAsLong();
    long late = now - before.limit();
    boolean isHeld = rounds > 0;
    if (isHeld ? late > MOST_LATE_NANOS : late > 0) {
      state = new State(now, before.gone() + late);
      rounds = ROUNDS;
      held = 0;
      unread = readAll();
      wake(Duration.ofNanos(late));
    } else if (isHeld) {
      hold(now, before.gone() + late);
    } else {
      state = new State(now + MOST_LATE_NANOS, before.gone());
    }
  }

  /// Keeps the clock where it is, until all readers have read.
  private void hold(long now, long gone) {
    if (unread.get() <= 0) {
      rounds--;
      unread = rounds > 0 ? readAll() : unread;
    } else if (++held > MOST_HELD) {
      rounds = 0;
    }
    state = new State(rounds > 0 ? now : now + MOST_LATE_NANOS, gone);
  }

  /// @return readers that have not run their task
  private AtomicInteger readAll() {
    AtomicInteger left = new AtomicInteger();
    for (Executor reader : List.copyOf(readers)) {
      left.incrementAndGet();
      try {
        reader.execute(left::decrementAndGet);
      } catch (RejectedExecutionException e) { // its thread has ended
        forget(reader);
        left.decrementAndGet();
      }
    }
    return left;
  }

  private void wake(Duration late) {
    for (Consumer<Duration> listener : listeners) {
      try {
        listener.accept(late);
      } catch (RuntimeException e) { // the others are called all the same
        Uncaught.report(e);
      }
    }
  }
}
