package io.penstock.block;

import io.penstock.TransientKvException;

/// More wait for a budget than its line may hold; a retry after some of them were served can succeed.
public final class BudgetExhaustedException extends TransientKvException {
  private final String budget;
  private final long wanted;
  private final long free;

  public BudgetExhaustedException(String budget, long wanted, long free, int maxWaiters) {
    super(budget + ": waiters must be <= " + maxWaiters + " (was one more, for " + wanted + " of " + free + " free)");
    this.budget = budget;
    this.wanted = wanted;
    this.free = free;
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
}
