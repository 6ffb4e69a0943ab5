package io.penstock.budget;

import io.penstock.TransientKvException;

/// The queue of a budget is full. A retry after some waiters were served can succeed.
public final class BudgetExhaustedException extends TransientKvException {
  private final String budget;
  private final long wanted;
  private final long free;
  private final int maxWaiters;

  public BudgetExhaustedException(String budget, long wanted, long free, int maxWaiters) {
    super(maxWaiters == 0
        ? budget + " must be within one party's share of what is free (was " + wanted + " of " + free + " free)"
        : budget + ": waiters must be <= " + maxWaiters + " (was one more, for " + wanted + " of " + free + " free)");
    this.budget = budget;
    this.wanted = wanted;
    this.free = free;
    this.maxWaiters = maxWaiters;
  }

  /// Name of the budget.
  public String budget() {
    return budget;
  }

  /// Units asked for: bytes, or slots of an arena.
  public long wanted() {
    return wanted;
  }

  /// Units that were free at that moment.
  public long free() {
    return free;
  }

  /// Maximum length of the queue.
  public int maxWaiters() {
    return maxWaiters;
  }
}
