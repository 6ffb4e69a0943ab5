package io.penstock.wire.server;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.wire.credit.Budget;
import io.penstock.wire.credit.BudgetLane;
import io.penstock.wire.credit.NodeBudget;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;

/// Shares of the connections of one source address in a node's bytes in flight, messages and open windows: a fair part
/// of each. So many connections of one peer leave room for another peer. Safe from any thread.
final class AddressShares {
  /// One address alone may have four fifths.
  private static final int GREED = 4;

  private final NodeBudget budget;
  private final BudgetLane requests;
  private final BudgetLane windows;
  private final AtomicInteger waitingPuts = new AtomicInteger();
  @GuardedBy("this") private final Map<Object, Share> shares = new HashMap<>();

  /// @param requests bytes of messages of requests, see `Request`
  /// @param windows blocks that open windows of puts may have
  AddressShares(NodeBudget budget, BudgetLane requests, BudgetLane windows) {
    this.budget = budget;
    this.requests = requests;
    this.windows = windows;
  }

  /// The lanes of one address, while it has connections.
  static final class Share {
    private final BudgetLane in;
    private final BudgetLane out;
    private final BudgetLane requests;
    private final BudgetLane windows;
    private int connections;

    private Share(AddressShares all) {
      this.in = all.budget.incoming(GREED);
      this.out = all.budget.outgoing(GREED);
      this.requests = part(all.requests, GREED);
      this.windows = part(all.windows, GREED);
    }

    private static BudgetLane part(BudgetLane whole, int greed) {
      return whole.part(whole.name(), whole.share(), Integer.MAX_VALUE, greed);
    }

    /// Budget of one connection for bytes on their way in.
    ///
    /// @param maxWaiters maximum number of streams that wait
    Budget incoming(int maxWaiters) {
      return in.part(in.name(), in.share(), maxWaiters, 1);
    }

    /// Budget of one connection for bytes on their way out: at most its send window.
    ///
    /// @param maxWaiters maximum number of streams that wait
    Budget outgoing(long sendWindowBytes, int maxWaiters) {
      return out.part("send window", sendWindowBytes, maxWaiters, 1);
    }

    /// Budget of the requests of one connection.
    Budget requests() {
      return part(requests, 1);
    }

    /// Blocks that the open windows of one connection may have: most of them, so that the next window is announced
    /// while one is filled.
    ///
    /// @param maxWaiters most puts that wait
    BudgetLane windows(int maxWaiters) {
      return windows.part(windows.name(), windows.share(), maxWaiters, GREED);
    }
  }

  /// The share of `address`, for one more connection.
  synchronized Share enter(Object address) {
    Share share = shares.computeIfAbsent(address, any -> new Share(this));
    share.connections++;
    return share;
  }

  /// A connection of `address` is gone.
  synchronized void leave(Object address) {
    shares.computeIfPresent(address, (any, share) -> --share.connections == 0 ? null : share);
  }

  /// Number of puts that wait for room, over all connections.
  AtomicInteger waitingPuts() {
    return waitingPuts;
  }

  NodeBudget budget() {
    return budget;
  }
}
