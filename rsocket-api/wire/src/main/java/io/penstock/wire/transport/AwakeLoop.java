package io.penstock.wire.transport;

import io.netty.util.concurrent.EventExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/// Keeps an event loop awake for a moment after it has heard from a peer: what comes next finds it running. To wake a
/// sleeping thread costs more than a short request, at both sides. Meanwhile the loop looks for new bytes again and
/// again. It offers its core after each turn, but for one in which it heard of values alone whose short rest has to
/// come: then no peer can go on anyway. Where another thread takes the core, the loop sleeps at once. A thread that
/// keeps it for as long as the system lets it is one that computes: then the loop offers nothing for a while.
///
/// It stays awake as long as that is of use in two of three moments: one in which nothing came costs twice the credit
/// that another one earns. Without credit, one call in [#PROBE] is followed by another try. On the event loop.
public final class AwakeLoop {
  /// Most credit, which a loop begins with.
  static final int CREDIT = 8;
  /// Credit that a moment of no use costs.
  static final int COST = 2;
  /// Calls between two tries while being awake is of no use.
  static final int PROBE = 64;
  /// A core that was offered for longer was taken by another thread.
  static final long TAKEN_NANOS = 10_000;
  /// One that was away for longer went to a thread that computes.
  static final long LOST_NANOS = 500_000;
  /// Time after such a loss in which the core is not offered.
  static final long KEPT_NANOS = 1_000_000_000;

  private final EventExecutor loop;
  private final long momentNanos;
  private final LongSupplier nanos;
  private final Runnable look = this::look;
  private long end;
  private boolean isAwake;
  /// The sockets were asked since a peer was heard.
  private boolean hasLooked;
  /// A peer was heard in this turn of the loop.
  private boolean isHeard;
  /// All peers that were heard in this turn have a little more to send.
  private boolean isMoreDue;
  private int credit = CREDIT;
  private int asleep;
  private boolean isKept;
  private long keptSince;

  /// @param momentNanos how long; 0 for never
  /// @param nanos time
  AwakeLoop(EventExecutor loop, long momentNanos, LongSupplier nanos) {
    this.loop = loop;
    this.momentNanos = momentNanos;
    this.nanos = nanos;
  }

  /// A peer has sent something, or will answer soon.
  ///
  /// @param hasMore whether a short rest of its request has to come before it gets an answer
  public void heard(boolean hasMore) {
    isMoreDue = hasMore && (isMoreDue || !isHeard || !isAwake);
    isHeard = true;
    if (isAwake) {
      credit = hasLooked ? Math.min(CREDIT, credit + 1) : credit;
      hasLooked = false;
      end = nanos.getAsLong() + momentNanos;
    } else if (momentNanos > 0 && (credit > 0 || ++asleep == PROBE) && !loop.isShuttingDown()) {
      asleep = 0;
      isAwake = true;
      hasLooked = false;
      end = nanos.getAsLong() + momentNanos;
      again();
    }
  }

  /// A task that is due keeps the loop from sleeping, and lets it look at its sockets in between.
  private void again() {
    var _ = loop.schedule(look, 0, TimeUnit.NANOSECONDS);
  }

  private void look() {
    long now = nanos.getAsLong();
    if (now - end >= 0 || loop.isShuttingDown()) {
      isAwake = false;
      credit = Math.max(0, credit - COST);
      return;
    }
    boolean goesOn = isMoreDue;
    isMoreDue = false;
    isHeard = false;
    if (goesOn) {
      again();
      return;
    }
    hasLooked = true;
    isKept = isKept && now - keptSince < KEPT_NANOS;
    if (isKept || !isTaken(now)) {
      again();
    } else {
      isAwake = false;
    }
  }

  /// Offers the core.
  private boolean isTaken(long now) {
    Thread.yield();
    long away = nanos.getAsLong() - now;
    if (away > LOST_NANOS) {
      isKept = true;
      keptSince = now;
    }
    return away > TAKEN_NANOS;
  }
}
