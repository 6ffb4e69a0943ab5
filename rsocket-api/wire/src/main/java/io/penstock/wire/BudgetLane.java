package io.penstock.wire;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.block.BudgetExhaustedException;
import io.penstock.check.Checks;
import java.util.ArrayDeque;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// A share of a budget for one party: what it takes, it takes of the budget too, and never more than its share.
///
/// The party's own waiters queue here, first come, first served; one of them at a time waits for the budget. So parties
/// take turns at the budget, however many waiters each has.
final class BudgetLane implements Budget {
  private final String name;
  private final Budget budget;
  private final long share;
  private final int maxWaiters;
  @GuardedBy("this") private final ArrayDeque<Waiter> queue = new ArrayDeque<>();
  @GuardedBy("this") private long inUse;
  /// The first of the queue, whose bytes count here already, while it waits for the budget.
  @GuardedBy("this") private @Nullable Waiter first;

  /// @param name named in errors
  /// @param share most bytes of `budget` that this party may have
  /// @param maxWaiters longest queue
  BudgetLane(String name, Budget budget, long share, int maxWaiters) {
    this.name = name;
    this.budget = budget;
    this.share = Checks.positive("share", share);
    this.maxWaiters = Checks.positive("maxWaiters", maxWaiters);
  }

  @Override
  public boolean tryAcquire(long bytes) {
    if (!takeIfFree(bytes)) {
      return false;
    }
    boolean taken = false;
    try {
      taken = budget.tryAcquire(bytes);
    } finally { // a closed budget throws
      if (!taken) {
        giveUp(bytes);
      }
    }
    return taken;
  }

  @Override
  public Place acquire(long bytes, Runnable granted, Consumer<? super RuntimeException> refused) {
    Waiter waiter = new Waiter(bytes, granted, refused);
    enter(waiter);
    serve();
    return waiter;
  }

  @Override
  public void release(long bytes) {
    budget.release(bytes);
    giveUp(bytes);
  }

  /// Bytes taken and not given back.
  synchronized long inUse() {
    return inUse;
  }

  private synchronized boolean takeIfFree(long bytes) {
    boolean free = queue.isEmpty() && bytes <= share - inUse;
    inUse += free ? bytes : 0;
    return free;
  }

  private synchronized void enter(Waiter waiter) {
    if (waiter.bytes > share) {
      throw new IllegalArgumentException(name + ": bytes must be <= share " + share + " (was " + waiter.bytes + ")");
    }
    if (queue.size() >= maxWaiters) {
      throw new BudgetExhaustedException(name, waiter.bytes, share - inUse, maxWaiters);
    }
    queue.add(waiter);
  }

  private void giveUp(long bytes) {
    synchronized (this) {
      inUse -= bytes;
    }
    serve();
  }

  /// Sends the first of the queue to the budget, unless one is there already.
  private void serve() {
    Waiter next = next();
    if (next != null) {
      try {
        next.waitsAt(budget.acquire(next.bytes, () -> arrived(next), refusal -> refused(next, refusal)));
      } catch (RuntimeException e) { // the queue of the budget is full, the budget is closed, or the grant threw
        refused(next, e);
      }
    }
  }

  private synchronized @Nullable Waiter next() {
    Waiter next = queue.peek();
    if (first != null || next == null || next.bytes > share - inUse) {
      return null;
    }
    inUse += next.bytes;
    first = next;
    return next;
  }

  /// The budget granted the bytes of `waiter`.
  private void arrived(Waiter waiter) {
    boolean wanted;
    synchronized (this) {
      first = null;
      wanted = queue.remove(waiter);
      inUse -= wanted ? 0 : waiter.bytes;
    }
    try {
      if (wanted) {
        waiter.granted.run();
      } else {
        budget.release(waiter.bytes);
      }
    } finally { // a grant that throws stops none behind it
      serve();
    }
  }

  /// The budget has no place for `waiter`, and so none for those behind it.
  private void refused(Waiter waiter, RuntimeException refusal) {
    List<Waiter> waiting;
    synchronized (this) {
      if (first != waiter) { // it was granted its bytes: its grant threw this
        throw refusal;
      }
      first = null;
      inUse -= waiter.bytes;
      waiting = List.copyOf(queue);
      queue.clear();
    }
    waiting.forEach(one -> one.refused.accept(refusal));
  }

  /// True if `waiter` left before its bytes were granted.
  private boolean leave(Waiter waiter) {
    boolean left;
    boolean wasFirst;
    Place place;
    synchronized (this) {
      left = queue.remove(waiter);
      wasFirst = first == waiter;
      place = waiter.place;
    }
    if (left && wasFirst && place != null && place.cancel()) { // else the grant comes, and is given back
      synchronized (this) {
        first = null;
        inUse -= waiter.bytes;
      }
    }
    if (left) {
      serve();
    }
    return left;
  }

  private final class Waiter implements Place {
    private final long bytes;
    private final Runnable granted;
    private final Consumer<? super RuntimeException> refused;
    /// In the queue of the budget; null before, and if the grant came at once.
    private volatile @Nullable Place place;

    Waiter(long bytes, Runnable granted, Consumer<? super RuntimeException> refused) {
      this.bytes = bytes;
      this.granted = granted;
      this.refused = refused;
    }

    void waitsAt(Place atBudget) {
      place = atBudget;
    }

    @Override
    public boolean cancel() {
      return leave(this);
    }
  }
}
