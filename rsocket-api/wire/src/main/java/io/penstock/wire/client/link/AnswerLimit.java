package io.penstock.wire.client.link;

import io.penstock.wire.protocol.WireFailure.AnswerTimeoutException;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Operators;
import reactor.core.scheduler.Scheduler;
import reactor.util.context.Context;

/// Ends the requests of one connection whose node owes an answer and is silent for a limit. Safe from any thread.
///
/// One timer looks at all requests, [#LOOKS] times a limit, while there are any: a request costs an entry in a set, and
/// a message of the node costs a field. A request ends up to two looks late.
public final class AnswerLimit {
  /// Looks a limit.
  static final int LOOKS = 10;
  /// Limits for which a put may wait for room: the node may hold other puts back, as long as its tier says.
  public static final int ROOM = 4;

  /// A request that is under way.
  public interface Pending {
    /// Called once a look, on the timers' thread.
    void look();
  }

  /// Number of consecutive looks that found the node silent while it owed something. Used by one thread at a time.
  public static final class Silence {
    private int looks;

    /// Resets the count: a payload of the node has arrived.
    public void heard() {
      looks = 0;
    }

    /// Counts one look.
    ///
    /// @param owed whether the node owes something now
    /// @param limits after how many limits silence is too long
    public boolean isTooLong(boolean owed, int limits) {
      looks = owed ? looks + 1 : 0;
      return looks > limits * LOOKS;
    }
  }

  private final Duration limit;
  private final @Nullable Scheduler timers;
  private final String where;
  private final Set<Pending> pending = ConcurrentHashMap.newKeySet();
  private final AtomicBoolean looking = new AtomicBoolean();
  private final Disposable.Swap next = Disposables.swap();

  /// @param timers null for no limit
  /// @param where the node is
  AnswerLimit(Duration limit, @Nullable Scheduler timers, String where) {
    this.limit = limit;
    this.timers = timers;
    this.where = where;
  }

  /// Watches `request` until it leaves.
  public void enter(Pending request) {
    if (timers != null) {
      pending.add(request);
      if (!looking.get() && looking.compareAndSet(false, true)) {
        lookLater(timers);
      }
    }
  }

  public void leave(Pending request) {
    pending.remove(request);
  }

  /// Requests that are watched.
  public int pending() {
    return pending.size();
  }

  private void lookLater(Scheduler timers) {
    try {
      next.replace(timers.schedule(() -> look(timers), Math.max(1, limit.toMillis() / LOOKS), TimeUnit.MILLISECONDS));
    } catch (RejectedExecutionException e) { // the event loop has ended, and all its connections with it
      looking.set(false);
    }
  }

  private void look(Scheduler timers) {
    for (Pending request : pending) {
      try {
        request.look();
      } catch (RuntimeException e) { // its reader threw; the others are watched on
        Operators.onErrorDropped(e, Context.empty());
      }
    }
    if (pending.isEmpty()) {
      looking.set(false);
      if (pending.isEmpty() || !looking.compareAndSet(false, true)) {
        return;
      }
    }
    lookLater(timers);
  }

  /// Exception for a request of `route` to `peer`.
  ///
  /// @param limits number of limits that it waited
  public AnswerTimeoutException exceeded(String route, String peer, int limits) {
    return new AnswerTimeoutException(route, peer + " at " + where, limit.multipliedBy(limits));
  }

  /// The connection is gone, and ends its requests.
  void close() {
    next.dispose();
  }
}
