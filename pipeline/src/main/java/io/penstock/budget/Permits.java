package io.penstock.budget;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.check.Checks;
import io.penstock.check.Uncaught;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/// A counted budget with a bounded, fair, cancellable wait: first come, first served, without overtaking.
///
/// A counting semaphore (Dijkstra, "Cooperating Sequential Processes", 1965) that departs from the original in two
/// ways: a wait calls back instead of blocking its thread, and one wait may take many units at once.
///
/// A unit is what the owner says: a byte in flight, or a slot of an arena. `inUse <= capacity` holds always. Units are
/// taken under the lock. Their grants run outside the lock, one at a time, in the order of the queue: on the caller's
/// thread if units are free, on the thread that freed units, or on a thread that is running grants already. So a grant
/// must not block, and nested grants do not deepen the stack. A grant that throws does not stop the next grants. Its
/// exception goes to the caller of [#acquire] if the grant runs on that thread, else to the uncaught exception handler;
/// [#release] never throws it.
///
/// It runs its grants itself, not through the serial executor of the operators: a grant keeps its place in the same
/// lock as its units, without a step for each, and an exception has to reach its own caller.
public final class Permits {
  private final String name;
  private final int maxWaiters;
  private volatile long capacity; // written under the lock
  /// Waiters, in the order of their arrival.
  @GuardedBy("this") private final ArrayDeque<Ticket> queue = new ArrayDeque<>();
  /// Waits whose units were taken and whose grant has not run yet; never more than there are units.
  @GuardedBy("this") private final ArrayDeque<Ticket> due = new ArrayDeque<>();
  @GuardedBy("this") private long inUse;
  @GuardedBy("this") private long peak;
  @GuardedBy("this") private boolean granting;
  @GuardedBy("this") private @Nullable Supplier<? extends RuntimeException> closed;

  /// @param name named in errors
  /// @param capacity units there are
  /// @param maxWaiters longest queue; a further wait fails at once
  public Permits(String name, long capacity, int maxWaiters) {
    this.name = name;
    this.capacity = Checks.positive("capacity", capacity);
    this.maxWaiters = Checks.positive("maxWaiters", maxWaiters);
  }

  /// Takes `units` now and answers true, or takes nothing. Never overtakes a waiter.
  public synchronized boolean tryAcquire(long units) {
    requireFits(units);
    requireOpen();
    return takeIfFree(units);
  }

  /// Takes `units` and runs `granted`: at once if they are free, else when its turn comes.
  ///
  /// @param granted owns the units, even if it throws
  /// @return the place in the queue; a cancel after the grant does nothing
  /// @throws IllegalArgumentException if `units` is not positive or exceeds the capacity: it could never be granted
  /// @throws BudgetExhaustedException if the queue is full
  public Ticket acquire(long units, Runnable granted) {
    return acquire(units, granted, refusal -> {
      throw refusal;
    });
  }

  /// Takes units from a budget that may close during the wait: then `refused` runs instead of `granted`.
  public Ticket acquire(long units, Runnable granted, Consumer<? super RuntimeException> refused) {
    Ticket ticket = new Ticket(this, units, granted, refused);
    boolean isNext = false;
    synchronized (this) {
      requireFits(units); // under the lock: a ticket that a smaller capacity cannot grant would block the queue
      requireOpen();
      if (takeIfFree(units)) {
        isNext = !granting && due.isEmpty();
        granting = granting || isNext;
        if (!isNext) {
          due.add(ticket);
        }
      } else if (queue.size() < maxWaiters) {
        queue.add(ticket);
      } else {
        throw new BudgetExhaustedException(name, units, capacity - inUse, maxWaiters);
      }
    }
    runGrants(ticket, isNext ? ticket : nextDue(true));
    return ticket;
  }

  /// Gives `units` back and serves the queue.
  public void release(long units) {
    Checks.positive("units", units);
    boolean grants;
    synchronized (this) {
      if (units > inUse) {
        throw new IllegalStateException(name + ": released units must be <= " + inUse + " in use (was " + units + ")");
      }
      inUse -= units;
      serveQueue();
      grants = !due.isEmpty();
    }
    if (grants) {
      runGrants(null, nextDue(true));
    }
  }

  /// Refuses all waiters and later calls. Units in use are given back as usual.
  public void close(Supplier<? extends RuntimeException> reason) {
    List<Ticket> waiting;
    synchronized (this) {
      closed = reason;
      waiting = new ArrayList<>(queue);
      queue.clear();
    }
    refuse(waiting, ticket -> reason.get());
  }

  /// Adds `units`, and serves the queue.
  public void raise(long units) {
    synchronized (this) {
      capacity = Math.addExact(capacity, Checks.positive("units", units));
      serveQueue();
    }
    runGrants(null, nextDue(true));
  }

  /// Removes `units`, some of which may be in use: nothing is granted until these are given back. Refuses waiters that
  /// want more than the rest.
  ///
  /// @throws IllegalArgumentException if nothing would be left
  public void lower(long units) {
    List<Ticket> unfit;
    synchronized (this) {
      capacity = Checks.positive("capacity", capacity - Checks.positive("units", units));
      unfit = queue.stream().filter(ticket -> ticket.units > capacity).toList();
      queue.removeAll(unfit);
      serveQueue();
    }
    runGrants(null, nextDue(true));
    refuse(unfit, ticket -> new BudgetExhaustedException(name, ticket.units, capacity, maxWaiters));
  }

  private static void refuse(List<Ticket> tickets, Function<Ticket, RuntimeException> reason) {
    for (Ticket ticket : tickets) {
      try {
        ticket.refused.accept(reason.apply(ticket));
      } catch (Throwable e) {
        Uncaught.report(e);
      }
    }
  }

  /// Its name in errors and meters.
  public String name() {
    return name;
  }

  /// Units there are now.
  public long capacity() {
    return capacity;
  }

  /// Maximum length of the queue.
  public int maxWaiters() {
    return maxWaiters;
  }

  /// Units taken and not given back.
  public synchronized long inUse() {
    return inUse;
  }

  /// Highest `inUse` so far.
  public synchronized long peak() {
    return peak;
  }

  /// Number of waiters.
  public synchronized int waiting() {
    return queue.size();
  }

  @GuardedBy("this") private void requireFits(long units) {
    Checks.positive("units", units);
    if (units > capacity) {
      throw new IllegalArgumentException(name + ": units must be <= capacity " + capacity + " (was " + units + ")");
    }
  }

  @GuardedBy("this") private void requireOpen() {
    if (closed != null) {
      throw closed.get();
    }
  }

  @GuardedBy("this") private boolean takeIfFree(long units) {
    if (!queue.isEmpty() || units > capacity - inUse) {
      return false;
    }
    take(units);
    return true;
  }

  @GuardedBy("this") private void take(long units) {
    inUse += units;
    peak = Math.max(peak, inUse);
  }

  @GuardedBy("this") private void serveQueue() {
    for (Ticket head = queue.peek(); head != null && head.units <= capacity - inUse; head = queue.peek()) {
      take(head.units);
      due.add(queue.remove());
    }
  }

  /// Runs the grants that are due, unless another thread runs them. Throws the exception of the grant of `own`, if that
  /// grant ran here.
  ///
  /// @param first that is due; null if there is none for this thread
  private void runGrants(@Nullable Ticket own, @Nullable Ticket first) {
    Throwable failure = null;
    for (Ticket ticket = first; ticket != null; ticket = nextDue(false)) {
      try {
        ticket.granted.run();
      } catch (Throwable e) {
        if (ticket == own) {
          failure = e;
        } else {
          Uncaught.report(e);
        }
      }
    }
    if (failure != null) {
      throw Permits.<RuntimeException>unchanged(failure);
    }
  }

  private synchronized @Nullable Ticket nextDue(boolean first) {
    if (first && granting) {
      return null;
    }
    Ticket next = due.poll();
    granting = next != null;
    return next;
  }

  /// An exception of a `Runnable` is unchecked, in spite of its static type.
  @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"})
  private static <E extends Throwable> E unchanged(Throwable failure) throws E {
    throw (E) failure;
  }

  /// A place in the queue.
  public static final class Ticket {
    private final Permits permits;
    private final long units;
    private final Runnable granted;
    private final Consumer<? super RuntimeException> refused;

    private Ticket(Permits permits, long units, Runnable granted, Consumer<? super RuntimeException> refused) {
      this.permits = permits;
      this.units = units;
      this.granted = granted;
      this.refused = refused;
    }

    /// Leaves the queue. True if the grant will not run, false if it ran or is about to run.
    public boolean cancel() {
      boolean left;
      synchronized (permits) {
        left = permits.queue.remove(this);
        if (left) {
          permits.serveQueue(); // the next waiter may want fewer units
        }
      }
      if (left) {
        permits.runGrants(null, permits.nextDue(true));
      }
      return left;
    }
  }
}
