package io.penstock.block;

import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/// A counted budget with a bounded, fair, cancellable wait: first come, first served, nobody overtakes.
///
/// Units are the owner's: bytes in flight, or slots of an arena. `inUse <= capacity` holds always. A grant runs on the thread that
/// freed the units (or on the caller's, when nothing stands in the way), never under a lock, and must not block; nested grants are
/// flattened, so a long line does not deepen the stack.
public final class Permits {
  private final String name;
  private final long capacity;
  private final int maxWaiters;
  private final ArrayDeque<Ticket> line = new ArrayDeque<>();
  private long inUse;
  private long peak;
  private boolean granting;

  /// @param name named in errors
  /// @param capacity units there are
  /// @param maxWaiters longest line; a further wait fails at once
  public Permits(String name, long capacity, int maxWaiters) {
    this.name = name;
    this.capacity = Checks.positive("capacity", capacity);
    this.maxWaiters = Checks.positive("maxWaiters", maxWaiters);
  }

  /// Takes `units` now, or takes nothing and answers false; never overtakes a waiter.
  public synchronized boolean tryAcquire(long units) {
    requireFits(units);
    if (!line.isEmpty() || units > capacity - inUse) {
      return false;
    }
    take(units);
    return true;
  }

  /// Runs `granted` once `units` were taken for it: at once if they are free, else when its turn comes.
  ///
  /// @return the place in line; cancelling it after the grant does nothing
  /// @throws IllegalArgumentException if `units` is not positive or exceeds the capacity: it could never be granted
  /// @throws BudgetExhaustedException if the line is full
  public Ticket acquire(long units, Runnable granted) {
    requireFits(units);
    Ticket ticket = new Ticket(this, units, granted);
    synchronized (this) {
      if (line.size() >= maxWaiters) {
        throw new BudgetExhaustedException(name, units, capacity - inUse, maxWaiters);
      }
      line.add(ticket);
    }
    grantInTurn();
    return ticket;
  }

  /// Gives `units` back and serves the line.
  public void release(long units) {
    Checks.positive("units", units);
    synchronized (this) {
      if (units > inUse) {
        throw new IllegalStateException(name + ": released units must be <= " + inUse + " in use (was " + units + ")");
      }
      inUse -= units;
    }
    grantInTurn();
  }

  public String name() {
    return name;
  }

  public long capacity() {
    return capacity;
  }

  public synchronized long inUse() {
    return inUse;
  }

  /// Highest `inUse` so far.
  public synchronized long peak() {
    return peak;
  }

  public synchronized int waiting() {
    return line.size();
  }

  private void requireFits(long units) {
    Checks.positive("units", units);
    if (units > capacity) {
      throw new IllegalArgumentException(name + ": units must be <= capacity " + capacity + " (was " + units + ")");
    }
  }

  private void take(long units) {
    inUse += units;
    peak = Math.max(peak, inUse);
  }

  private void grantInTurn() {
    synchronized (this) {
      if (granting) {
        return;
      }
      granting = true;
    }
    RuntimeException failure = null;
    for (Ticket ticket = nextGranted(); ticket != null; ticket = nextGranted()) {
      try {
        ticket.granted.run();
      } catch (RuntimeException e) { // the line goes on; the first failure is told when it is served
        failure = failure == null ? e : failure;
      }
    }
    if (failure != null) {
      throw failure;
    }
  }

  private @Nullable Ticket nextGranted() {
    synchronized (this) {
      Ticket head = line.peek();
      if (head == null || head.units > capacity - inUse) {
        granting = false;
        return null;
      }
      line.remove();
      take(head.units);
      return head;
    }
  }

  /// A place in line.
  public static final class Ticket {
    private final Permits permits;
    private final long units;
    private final Runnable granted;

    private Ticket(Permits permits, long units, Runnable granted) {
      this.permits = permits;
      this.units = units;
      this.granted = granted;
    }

    /// Leaves the line; true if the grant will not come any more, false if it came or is coming.
    public boolean cancel() {
      boolean left;
      synchronized (permits) {
        left = permits.line.remove(this);
      }
      if (left) {
        permits.grantInTurn(); // the next in line may want less
      }
      return left;
    }
  }
}
