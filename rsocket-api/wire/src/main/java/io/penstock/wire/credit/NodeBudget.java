package io.penstock.wire.credit;

import io.penstock.budget.Permits;

/// A node's one budget of bytes in flight, in both directions.
///
/// Each direction has a lane of the budget, of which each address has a fair part, and each connection of that. A
/// quarter of the budget, and at least one slice, is beyond the reach of either direction: readers that take nothing do
/// not stop puts, and writers that send nothing do not stop gets.
public final class NodeBudget {
  private final Permits permits;
  private final long share;
  private final BudgetLane in;
  private final BudgetLane out;

  /// @param maxSliceBytes largest slice
  /// @throws IllegalArgumentException if there is not room for one slice each way
  public NodeBudget(Permits permits, int maxSliceBytes) {
    if (permits.capacity() < 2L * maxSliceBytes) {
      throw new IllegalArgumentException("budget must be >= 2 slices, one in and one out, of maxSliceBytes "
          + maxSliceBytes + " (was " + permits.capacity() + ")");
    }
    if (permits.maxWaiters() < 2) {
      throw new IllegalArgumentException(
          "waiters of the budget must be >= 2, one each way (was " + permits.maxWaiters() + ")");
    }
    this.permits = permits;
    this.share = permits.capacity() - Math.max(maxSliceBytes, permits.capacity() / 4);
    this.in = new BudgetLane(permits.name() + ", incoming", Budget.of(permits), share, Integer.MAX_VALUE);
    this.out = new BudgetLane(permits.name() + ", outgoing", Budget.of(permits), share, Integer.MAX_VALUE);
  }

  /// Lane of one party for incoming bytes.
  ///
  /// @param greed as in [BudgetLane#part]
  public BudgetLane incoming(int greed) {
    return in.part(in.name(), share, Integer.MAX_VALUE, greed);
  }

  /// Lane of one party for outgoing bytes.
  public BudgetLane outgoing(int greed) {
    return out.part(out.name(), share, Integer.MAX_VALUE, greed);
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
