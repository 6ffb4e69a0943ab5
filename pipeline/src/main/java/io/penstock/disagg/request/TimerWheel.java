package io.penstock.disagg.request;

import static java.util.Objects.requireNonNull;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.check.Checks;
import io.penstock.check.Uncaught;
import io.penstock.operator.SerialLoop;
import java.time.Duration;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.scheduler.Scheduler;

/// Timers of many requests. Adding and removing one costs the same however many wait, and no step looks at them all.
///
/// The wheel has a slot for each tick of one turn. A timer lies in the slot of its moment; one that is due after more
/// than a turn stays there for the turns between. A timer may move its moment without a call: when its slot comes up it
/// says how long it still wants. One task of the scheduler waits for the next slot with timers, none if there is none.
/// Timers fire less than a tick after their moment, outside the wheel's lock, which is held for a few timers at a time.
/// Timers of one tick fire in any order.
///
/// This is scheme 6 of Varghese and Lauck, "Hashed and Hierarchical Timing Wheels" (SOSP '87): a hashed wheel with
/// unsorted lists. It departs from the paper in two ways. The clock does not step from tick to tick: the wheel skips
/// empty slots, and after a pause of more than a turn it looks at each slot once. A timer keeps the number of its tick,
/// so no step counts down the turns of the timers that it passes.
///
/// Safe from any thread.
final class TimerWheel implements Disposable {
  /// Returned by [Timer#due(long)] of a timer that wants no other moment.
  static final long NEVER = Long.MAX_VALUE;

  private static final int BATCH = 64;

  private final Scheduler scheduler;
  private final long tickNanos;
  private final long startNanos;
  private final int slotCount;
  private final SerialLoop turns = new SerialLoop(this::turn);

  @GuardedBy("this") private final @Nullable Timer[] slots;
  @GuardedBy("this") private final BitSet filled;
  /// The first tick whose slot has not been entered.
  @GuardedBy("this") private long nextTick;
  /// The tick whose slot is being looked at.
  @GuardedBy("this") private long currentTick;
  /// The tick that the scheduler waits for.
  @GuardedBy("this") private long wakeTick = NEVER;
  @GuardedBy("this") private Disposable wake = Disposables.disposed();
  @GuardedBy("this") private int size;
  @GuardedBy("this") private boolean disposed;

  /// A moment and its place in the wheel.
  abstract static class Timer {
    private static final int NOWHERE = -1;

    private @Nullable Timer next;
    private @Nullable Timer previous;
    private int slot = NOWHERE;
    private long tick;

    /// Called when the slot of this timer has come up, outside the wheel's lock. The timer is in no slot during the
    /// call.
    ///
    /// @param now nanoseconds of the scheduler
    /// @return a later moment, or [TimerWheel#NEVER]
    abstract long due(long now);
  }

  /// @param scheduler clock, and thread on which timers fire
  /// @param tick precision
  /// @param slots ticks of one turn
  TimerWheel(Scheduler scheduler, Duration tick, int slots) {
    this.scheduler = scheduler;
    this.tickNanos = Checks.positive("tick", tick).toNanos();
    this.slotCount = Checks.positive("slots", slots);
    this.slots = new Timer[slots];
    this.filled = new BitSet(slots);
    this.startNanos = now();
  }

  /// Nanoseconds of the scheduler.
  long now() {
    return scheduler.now(TimeUnit.NANOSECONDS);
  }

  /// Timers that wait.
  synchronized int size() {
    return size;
  }

  /// Makes `timer` fire at `nanos` instead of its earlier moment; [#NEVER] removes the timer. A disposed wheel ignores
  /// the call.
  synchronized void add(Timer timer, long nanos) {
    remove(timer);
    if (disposed || nanos == NEVER) {
      return;
    }
    if (size == 0) {
      nextTick = Math.max(nextTick, (now() - startNanos) / tickNanos);
    }
    link(timer, Math.max(nextTick, Math.ceilDiv(nanos - startNanos, tickNanos)));
    waitFor(timer.tick);
  }

  /// Forgets `timer`; does nothing if it waits for nothing. A timer that fires at this moment may fire once more.
  synchronized void remove(Timer timer) {
    if (timer.slot != Timer.NOWHERE) {
      unlink(timer);
    }
  }

  @GuardedBy("this") private void link(Timer timer, long tick) {
    int slot = slot(tick);
    Timer first = slots[slot];
    timer.tick = tick;
    timer.slot = slot;
    timer.next = first;
    if (first != null) {
      first.previous = timer;
    }
    slots[slot] = timer;
    filled.set(slot);
    size++;
  }

  @GuardedBy("this") private void unlink(Timer timer) {
    Timer before = timer.previous;
    Timer after = timer.next;
    if (before == null) {
      slots[timer.slot] = after;
      filled.set(timer.slot, after != null);
    } else {
      before.next = after;
    }
    if (after != null) {
      after.previous = before;
    }
    timer.next = null;
    timer.previous = null;
    timer.slot = Timer.NOWHERE;
    size--;
  }

  @GuardedBy("this") private void waitFor(long tick) {
    if (tick < wakeTick) {
      wake.dispose();
      wakeTick = tick;
      long delay = startNanos + tick * tickNanos - now();
      wake = scheduler.schedule(turns::run, Math.max(0, delay), TimeUnit.NANOSECONDS);
    }
  }

  /// Fires the timers that are due, some at a time, then waits for the next slot with timers.
  private void turn() {
    long now = now();
    long last = (now - startNanos) / tickNanos;
    Timer rest = null;
    do {
      List<Timer> due = new ArrayList<>();
      rest = take(last, rest, due);
      due.forEach(timer -> fire(timer, now));
    } while (rest != null);
  }

  private void fire(Timer timer, long now) {
    if (isDisposed()) { // by a timer that fired before
      return;
    }
    try {
      long next = timer.due(now);
      if (next != NEVER) {
        add(timer, Math.max(next, now + 1));
      }
    } catch (Throwable e) { // the other timers fire all the same
      Uncaught.report(e);
    }
  }

  /// Moves some timers of ticks up to `last` to `due`.
  ///
  /// @param rest the timer at which the previous call stopped; null to begin with the next slot
  /// @return the timer at which this call stopped; null when the scheduler waits for the next slot
  private synchronized @Nullable Timer take(long last, @Nullable Timer rest, List<Timer> due) {
    wakeTick = NEVER;
    Timer timer = rest == null || rest.slot == slot(currentTick) ? rest : slots[slot(currentTick)];
    int looked = 0;
    do {
      for (; timer != null; timer = take(timer, last, due)) {
        if (looked++ == BATCH) {
          return timer;
        }
      }
      timer = enter(last);
    } while (timer != null);
    if (size > 0) {
      waitFor(nextFilled());
    }
    return null;
  }

  /// @return the next timer of the slot
  @GuardedBy("this") private @Nullable Timer take(Timer timer, long last, List<Timer> due) {
    Timer next = timer.next;
    if (timer.tick <= last) {
      unlink(timer);
      due.add(timer);
    }
    return next;
  }

  /// Enters the next slot with timers. Returns its first timer, or null if there is none up to `last`.
  @GuardedBy("this") private @Nullable Timer enter(long last) {
    nextTick = Math.max(nextTick, last - slotCount + 1); // one turn passes each timer up to `last`
    long tick = size == 0 ? NEVER : nextFilled();
    if (tick > last) {
      nextTick = Math.max(nextTick, last + 1);
      return null;
    }
    currentTick = tick;
    nextTick = tick + 1;
    return slots[slot(tick)];
  }

  /// The first tick from [#nextTick] on whose slot has timers; there are some.
  @GuardedBy("this") private long nextFilled() {
    int slot = slot(nextTick);
    int found = filled.nextSetBit(slot);
    return nextTick + (found >= 0 ? found - slot : slotCount - slot + filled.nextSetBit(0));
  }

  private int slot(long tick) {
    return (int) (tick % slotCount);
  }

  /// Removes all timers. A timer that fires at this moment is not interrupted.
  @Override
  public synchronized void dispose() {
    disposed = true;
    wake.dispose();
    for (int slot = filled.nextSetBit(0); slot >= 0; slot = filled.nextSetBit(slot)) {
      unlink(requireNonNull(slots[slot]));
    }
  }

  @Override
  public synchronized boolean isDisposed() {
    return disposed;
  }
}
