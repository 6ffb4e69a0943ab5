package io.penstock.wire.credit;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;
import reactor.core.scheduler.Scheduler;

/// One timer for many waits that end, as a rule, long before they are due. A wait costs an entry in a set: the timer
/// is neither started for it, which would wake a thread, nor stopped with it. Safe from any thread.
public final class SharedTimer {
  private static final long NEVER = Long.MAX_VALUE;

  private final Scheduler timers;
  @GuardedBy("this") private final Set<Wait> waits = new LinkedHashSet<>();
  /// When the timer ends; [#NEVER] while none runs.
  @GuardedBy("this") private long endMillis = NEVER;
  @GuardedBy("this") private @Nullable Disposable timer;
  @GuardedBy("this") private boolean closed;

  public SharedTimer(Scheduler timers) {
    this.timers = timers;
  }

  /// One wait.
  final class Wait {
    private final long atMillis;
    private final Runnable due;

    private Wait(long atMillis, Runnable due) {
      this.atMillis = atMillis;
      this.due = due;
    }

    /// Ends the wait, unless it is due already.
    void cancel() {
      leave(this);
    }
  }

  /// The clock of the waits.
  long nowMillis() {
    return timers.now(TimeUnit.MILLISECONDS);
  }

  /// Runs `due` once, after `millis`, on a thread of the timers.
  Wait start(Runnable due, long millis) {
    Wait wait = new Wait(nowMillis() + millis, due);
    synchronized (this) {
      waits.add(wait);
      if (wait.atMillis < endMillis) {
        runUntil(wait.atMillis, millis);
      }
    }
    return wait;
  }

  /// Starts the timer, which ends at `atMillis`.
  @GuardedBy("this") private void runUntil(long atMillis, long inMillis) {
    if (timer != null) {
      timer.dispose();
    }
    timer = timers.schedule(this::timeIsUp, inMillis, TimeUnit.MILLISECONDS);
    endMillis = atMillis;
  }

  private void timeIsUp() {
    long now = nowMillis();
    List<Wait> over = new ArrayList<>();
    synchronized (this) {
      timer = null;
      endMillis = NEVER;
      long next = NEVER;
      for (Wait wait : waits) {
        if (wait.atMillis <= now) {
          over.add(wait);
        } else {
          next = Math.min(next, wait.atMillis);
        }
      }
      over.forEach(waits::remove);
      if (next < NEVER) {
        runUntil(next, next - now);
      }
    }
    over.forEach(wait -> wait.due.run());
  }

  private synchronized void leave(Wait wait) {
    waits.remove(wait);
    stopIfOver();
  }

  /// No more waits come, but for those of streams that are under way: the timer ends with them.
  public synchronized void close() {
    closed = true;
    stopIfOver();
  }

  @GuardedBy("this") private void stopIfOver() {
    if (closed && waits.isEmpty() && timer != null) {
      timer.dispose();
      timer = null;
      endMillis = NEVER;
    }
  }
}
