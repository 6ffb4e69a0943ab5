package io.penstock.wire.credit;

import io.penstock.budget.Permits;
import java.util.function.Supplier;

/// A node's one budget of bytes in flight, in both directions.
///
/// Each direction has a lane of the budget, of which users, their addresses and their connections have fair parts. A
/// quarter of the budget, and at least one slice, is beyond the reach of either direction: readers that take nothing do
/// not stop puts, and writers that send nothing do not stop gets.
public final class NodeBudget {
  private final Permits permits;
  private final BudgetLane in;
  private final BudgetLane out;

  /// @param maxSliceBytes largest slice
  /// @throws IllegalArgumentException if there is not room for one slice each way
  public NodeBudget(Permits permits, int maxSliceBytes) {
    this(permits, maxSliceBytes, Reclaim::none);
  }

  /// @param reclaim takes bytes of one direction back from idle streams
  public NodeBudget(Permits permits, int maxSliceBytes, Supplier<Reclaim> reclaim) {
    if (permits.capacity() < 2L * maxSliceBytes) {
      throw new IllegalArgumentException("budget must be >= 2 slices, one in and one out, of maxSliceBytes "
          + maxSliceBytes + " (was " + permits.capacity() + ")");
    }
    if (permits.maxWaiters() < 2) {
      throw new IllegalArgumentException(
          "waiters of the budget must be >= 2, one each way (was " + permits.maxWaiters() + ")");
    }
    this.permits = permits;
    long share = permits.capacity() - Math.max(maxSliceBytes, permits.capacity() / 4);
    this.in = new BudgetLane(permits.name() + ", incoming", Budget.of(permits), share, Integer.MAX_VALUE,
        reclaim.get());
    this.out = new BudgetLane(permits.name() + ", outgoing", Budget.of(permits), share, Integer.MAX_VALUE,
        reclaim.get());
  }

  /// Lane of the bytes that come in, of which parties have parts.
  public BudgetLane in() {
    return in;
  }

  /// Lane of the bytes that leave, of which parties have parts.
  public BudgetLane out() {
    return out;
  }

  /// Bytes in flight, both ways.
  public Permits permits() {
    return permits;
  }

  /// Bytes on their way out.
  public long outgoingBytes() {
    return out.inUse();
  }
}
