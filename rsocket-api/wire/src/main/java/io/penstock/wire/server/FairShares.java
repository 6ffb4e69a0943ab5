package io.penstock.wire.server;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.wire.credit.Budget;
import io.penstock.wire.credit.BudgetLane;
import io.penstock.wire.credit.IdleStreams;
import io.penstock.wire.credit.NodeBudget;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// Shares of users, of their addresses and of their connections in a node's bytes in flight, messages and open windows:
/// a fair part of each, by one rule, [BudgetLane]. So many connections of one peer leave room for another peer, also
/// where both have one address: behind a side-car proxy, or at a Unix socket. The address of a peer without a user
/// stands beside the users. Safe from any thread.
final class FairShares {
  /// One user, or one address, alone may have four fifths; one connection half of its address.
  private static final int GREED = 4;

  private final NodeBudget budget;
  private final Lanes all;
  @GuardedBy("this") private final Map<String, Branch> users = new HashMap<>();
  @GuardedBy("this") private final Map<Object, Branch> strangers = new HashMap<>();

  /// @param requests bytes of messages of requests, see `Request`
  /// @param windows blocks that open windows of puts may have
  FairShares(NodeBudget budget, BudgetLane requests, BudgetLane windows) {
    this.budget = budget;
    this.all = new Lanes(budget.in(), budget.out(), requests, windows);
  }

  /// One party's lane of each resource.
  private record Lanes(BudgetLane in, BudgetLane out, BudgetLane requests, BudgetLane windows) {
    Lanes part() {
      return new Lanes(part(in), part(out), part(requests), part(windows));
    }

    private static BudgetLane part(BudgetLane whole) {
      return whole.part(whole.name(), whole.share(), Integer.MAX_VALUE, GREED);
    }
  }

  /// A user or an address while it has connections.
  private static final class Branch {
    private final Lanes lanes;
    private final Map<Object, Branch> addresses = new HashMap<>(0);
    private int connections;

    Branch(Lanes whole) {
      lanes = whole.part();
    }
  }

  /// Part of one connection; lanes that it makes are its own.
  static final class Share {
    private final Lanes address;
    private final IdleStreams gets = new IdleStreams();
    private final IdleStreams puts = new IdleStreams();

    private Share(Lanes address) {
      this.address = address;
    }

    /// Budget for bytes on their way in.
    ///
    /// @param maxWaiters maximum number of streams that wait
    Budget incoming(int maxWaiters) {
      return part(address.in, address.in.share(), maxWaiters, puts);
    }

    /// Budget for bytes on their way out: at most the send window. A stream that ends gives none of them back: they
    /// wait for the socket.
    ///
    /// @param maxWaiters maximum number of streams that wait
    Budget outgoing(long sendWindowBytes, int maxWaiters) {
      return address.out.part("send window", sendWindowBytes, maxWaiters, 1);
    }

    /// Budget of requests.
    Budget requests() {
      return part(address.requests, address.requests.share(), Integer.MAX_VALUE, gets, puts);
    }

    /// Blocks that open windows may have.
    ///
    /// @param maxWaiters most puts that wait
    BudgetLane windows(int maxWaiters) {
      return part(address.windows, address.windows.share(), maxWaiters, puts);
    }

    /// Streams whose reader may stand still.
    IdleStreams gets() {
      return gets;
    }

    /// Streams whose sender may stand still.
    IdleStreams puts() {
      return puts;
    }

    private static BudgetLane part(BudgetLane whole, long share, int maxWaiters, IdleStreams... idle) {
      return whole.part(whole.name(), share, maxWaiters, 1, idle);
    }
  }

  /// The share of one more connection.
  ///
  /// @param user null for a peer without one
  synchronized Share enter(@Nullable String user, Object address) {
    if (user == null) {
      return new Share(entered(strangers, address, all).lanes);
    }
    Branch whole = entered(users, user, all);
    return new Share(entered(whole.addresses, address, whole.lanes).lanes);
  }

  private static <K> Branch entered(Map<K, Branch> branches, K key, Lanes whole) {
    Branch branch = branches.computeIfAbsent(key, any -> new Branch(whole));
    branch.connections++;
    return branch;
  }

  /// A connection is gone.
  synchronized void leave(@Nullable String user, Object address) {
    if (user == null) {
      left(strangers, address);
      return;
    }
    Branch whole = users.get(user);
    if (whole != null) {
      left(whole.addresses, address);
      left(users, user);
    }
  }

  private static <K> void left(Map<K, Branch> branches, K key) {
    branches.computeIfPresent(key, (any, branch) -> --branch.connections == 0 ? null : branch);
  }

  NodeBudget budget() {
    return budget;
  }
}
