package io.penstock.resp;

import io.netty.util.concurrent.EventExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/// Keeps an event loop awake for a moment after it has read from a client: what comes next finds it running. To wake a
/// sleeping thread costs more than a short request, at both sides. Meanwhile the loop looks for new bytes again and
/// again. Where another thread wants its core, it sleeps at once. It offers its core after each turn, but for one in
/// which it heard of values alone whose short rest has to come: then no client can go on anyway.
///
/// It stays awake as long as that is of use: each moment in which nothing came counts against the next ones. Then one
/// read in [#PROBE] is followed by another try.
///
/// It knows as well whether several connections of the loop send by turns. On the event loop.
final class AwakeLoop {
  /// Moments of no use in a row, after useful ones, until the loop sleeps again.
  static final int CREDIT = 8;
  /// Reads between two tries while being awake is of no use.
  static final int PROBE = 64;
  /// A core that was offered for longer was taken by another thread.
  static final long TAKEN_NANOS = 10_000;
  /// Reads of one connection, with none of another between them, until the loop is not shared.
  static final int SHARED = 64;

  private final EventExecutor loop;
  private final long momentNanos;
  private final LongSupplier nanos;
  private final Runnable look = this::look;
  private long end;
  private boolean isAwake;
  /// The sockets were asked since a client was heard.
  private boolean hasLooked;
  /// A client was heard in this turn of the loop.
  private boolean isHeard;
  /// All clients that were heard in this turn have a little more to send.
  private boolean isMoreDue;
  private int credit = CREDIT;
  private int asleep;
  private int connections;
  /// The connection that was heard last.
  private int last;
  /// Reads of one connection in a row until it has the loop to itself.
  private int shared;

  /// @param momentNanos how long; 0 for never
  /// @param nanos time
  AwakeLoop(EventExecutor loop, long momentNanos, LongSupplier nanos) {
    this.loop = loop;
    this.momentNanos = momentNanos;
    this.nanos = nanos;
  }

  /// A number for a connection of this loop.
  int connect() {
    return ++connections;
  }

  /// Whether other connections have sent something lately, too.
  boolean isShared() {
    return shared > 0;
  }

  /// The client of `connection` has sent something.
  ///
  /// @param hasMore whether a short rest of its request has to come before it gets an answer
  void heard(int connection, boolean hasMore) {
    shared = connection == last ? Math.max(0, shared - 1) : SHARED;
    last = connection;
    isMoreDue = hasMore && (isMoreDue || !isHeard || !isAwake);
    isHeard = true;
    heard();
  }

  private void heard() {
    if (isAwake) {
      credit = hasLooked ? CREDIT : credit;
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
      credit = Math.max(0, credit - 1);
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
    Thread.yield();
    if (nanos.getAsLong() - now > TAKEN_NANOS) {
      isAwake = false;
    } else {
      again();
    }
  }
}
