package io.penstock.wire.credit;

import static java.util.Objects.requireNonNull;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.check.Checks;
import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import reactor.core.scheduler.Scheduler;

/// Takes bytes of one budget back from streams that stand still, while a connection that has nothing waits for some.
///
/// The user with most bytes loses some. Of its addresses the one with most bytes is chosen, then the connection of that
/// address with most bytes, then the stream of that connection that has stood still longest.
///
/// A party with more bytes than the waiter would have then loses streams after `grace`. Any other party with more bytes
/// than the waiter has now loses streams after [#PATIENCE] times the grace. All others lose none, and neither does a
/// peer that moves bytes. Safe from any thread.
public final class Reclaim {
  /// Factor of the grace for a party that has no more than its part.
  static final int PATIENCE = 5;
  /// Number of looks of one connection in the time of the grace that may find nothing: a look costs time.
  private static final int LOOKS = 8;
  /// Maximum number of streams that are ended for one waiter at a time.
  private static final int MOST_STREAMS = 64;
  /// Maximum number of waiters that a look of the timer serves.
  private static final int MOST_WAITERS = 32;

  private final long graceMillis;
  private final @Nullable Scheduler timers;
  @GuardedBy("this") private final Set<BudgetLane> waiting = new LinkedHashSet<>();
  @GuardedBy("this") private boolean looks;

  /// @param grace for which a stream may stand still while others wait
  /// @param timers clock of the silence
  public Reclaim(Duration grace, Scheduler timers) {
    this.graceMillis = Checks.atLeastOneMilli("grace", grace).toMillis();
    this.timers = requireNonNull(timers, "timers");
  }

  private Reclaim() {
    this.graceMillis = 0;
    this.timers = null;
  }

  /// Takes nothing back.
  public static Reclaim none() {
    return new Reclaim();
  }

  /// Ends idle streams of others until `lane` could take `bytes`. False if it still could not.
  boolean relieve(BudgetLane lane, long bytes) {
    if (timers == null || !lane.mayLook(timers.now(TimeUnit.MILLISECONDS))) {
      return false;
    }
    for (int ended = 0; ended < MOST_STREAMS && !lane.couldTake(bytes); ended++) {
      Victim victim = victim(lane, bytes, timers.now(TimeUnit.MILLISECONDS));
      if (victim == null) {
        lane.foundNothing(timers.now(TimeUnit.MILLISECONDS) + graceMillis / LOOKS);
        return false;
      }
      victim.stream().giveWay(graceMillis, victim.streams()::suspect);
    }
    return lane.couldTake(bytes);
  }

  /// `lane` may have a waiter now: relieves it until it has none, or has bytes.
  void awaited(BudgetLane lane) {
    if (timers == null || lane.wanted() == 0) {
      return;
    }
    relieve(lane);
    if (lane.wanted() > 0) {
      synchronized (this) {
        waiting.add(lane);
      }
      lookLater(timers);
    }
  }

  private void relieve(BudgetLane lane) {
    long wanted = lane.wanted();
    if (wanted > 0) {
      relieve(lane, wanted);
    }
  }

  private void lookLater(Scheduler clock) {
    synchronized (this) {
      if (looks || waiting.isEmpty()) {
        return;
      }
      looks = true;
    }
    clock.schedule(() -> look(clock), Math.ceilDiv(graceMillis, 2), TimeUnit.MILLISECONDS);
  }

  private void look(Scheduler clock) {
    synchronized (this) {
      looks = false;
    }
    try {
      for (int served = 0; served < MOST_WAITERS; served++) {
        BudgetLane lane = first();
        if (lane == null) {
          break;
        }
        relieve(lane);
        again(lane);
      }
    } finally {
      lookLater(clock);
    }
  }

  private synchronized @Nullable BudgetLane first() {
    BudgetLane first = waiting.isEmpty() ? null : waiting.iterator().next();
    waiting.remove(first);
    return first;
  }

  private void again(BudgetLane lane) {
    boolean waits = lane.wanted() > 0;
    synchronized (this) {
      if (waits) {
        waiting.add(lane);
      }
    }
  }

  private record Victim(IdleStreams streams, SilenceLimit stream) {}

  private @Nullable Victim victim(BudgetLane waiter, long wanted, long nowMillis) {
    BudgetLane top = waiter;
    for (BudgetLane next = top.whole(); next != null; next = next.whole()) {
      top = next;
    }
    return among(top, waiter, wanted, nowMillis);
  }

  /// A stream of the parts of `whole`, of which one has `waiter`, or is it.
  private @Nullable Victim among(BudgetLane whole, BudgetLane waiter, long wanted, long nowMillis) {
    BudgetLane own = waiter;
    for (BudgetLane next = waiter.whole(); next != null && next != whole; next = next.whole()) {
      own = next;
    }
    long had = own.inUse();
    Victim victim = null;
    for (BudgetLane part : whole.largestHolders()) {
      if (part == own) {
        victim = own == waiter ? null : among(own, waiter, wanted, nowMillis);
      } else if (part.inUse() > had) {
        boolean hasMore = part.inUse() > had + wanted;
        victim = longest(part, nowMillis, hasMore ? graceMillis : PATIENCE * graceMillis);
      }
      if (victim != null) {
        break;
      }
    }
    return victim;
  }

  /// The idlest stream of the largest connection of `party` that has one.
  private static @Nullable Victim longest(BudgetLane party, long nowMillis, long leastMillis) {
    for (IdleStreams streams : party.idle()) {
      SilenceLimit stream = streams.longest(nowMillis, leastMillis);
      if (stream != null) {
        return new Victim(streams, stream);
      }
    }
    for (BudgetLane part : party.largestHolders()) {
      Victim victim = longest(part, nowMillis, leastMillis);
      if (victim != null) {
        return victim;
      }
    }
    return null;
  }
}
