package io.penstock.wire.credit;

import io.penstock.operator.Serial;
import io.penstock.wire.protocol.WireFailure.AwaitTimeoutException;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import reactor.core.scheduler.Scheduler;

/// Ends a stream whose peer owes something and moves too little: when the time in which it owed, less the time that the
/// bytes it moved take at [#LEAST_RATE], reaches the limit. So a peer that trickles has its stream for the limit and
/// the time of its bytes, and no longer. While others wait for what the stream holds, [Reclaim] ends it earlier.
///
/// Looks at most a tenth of the limit late: one wait at a time, however much comes, at the timer that the streams of a
/// connection share. Every call is a step of the stream's [Serial], and so is the wait's end.
public final class SilenceLimit {
  /// Bytes a second that a peer must move while it owes.
  static final long LEAST_RATE = 32 << 10;

  /// Maximum time for which a stream of the peer may stand still.
  ///
  /// @param timers clock of the limit
  /// @param looks timer of the connection's looks
  /// @param idle streams of the connection, for those who wait for what they hold
  public record Rule(Duration limit, Scheduler timers, SharedTimer looks, IdleStreams idle) {
    /// The rule for a stream that may stand still for `more` time than others.
    public Rule plus(Duration more) {
      return new Rule(limit.plus(more), timers, looks, idle);
    }
  }

  /// Maximum number of looks in the time of a limit.
  private static final int LOOKS = 10;
  private static final long NEVER = Long.MAX_VALUE;

  private final String what;
  private final Rule rule;
  private final Serial serial;
  private final BooleanSupplier owed;
  private final LongSupplier moved;
  private SharedTimer.@Nullable Wait look;
  /// Whether the peer owed at the last step.
  private boolean owing;
  private long sinceMillis;
  private long movedBefore;
  /// Milliseconds in which the peer owed, less those that its bytes take.
  private double silent;
  /// Time since which the stream stands still; read by those who wait for its bytes.
  private volatile long stillSinceMillis = NEVER;
  private boolean entered;
  private boolean stopped;

  /// @param what debt of the peer, named in the error
  /// @param owed whether it owes anything now
  /// @param moved bytes that the peer moved so far; grows
  public SilenceLimit(String what, Rule rule, Serial serial, BooleanSupplier owed, LongSupplier moved) {
    this.what = what;
    this.rule = rule;
    this.serial = serial;
    this.owed = owed;
    this.moved = moved;
  }

  /// Watches from now on, until nothing is owed when a wait ends. To be called after each step that changes the
  /// debt.
  public void watch() {
    if (stopped) {
      return;
    }
    count();
    if (owing != entered) {
      entered = owing;
      if (owing) {
        rule.idle().enter(this);
      } else {
        rule.idle().leave(this);
      }
    }
    if (look == null && owing) {
      long limit = rule.limit().toMillis();
      long left = Math.max(limit - (long) silent, Math.ceilDiv(limit, LOOKS));
      look = rule.looks().start(() -> serial.run(this::look), left);
    }
  }

  /// Milliseconds for which the stream has stood still; 0 while its peer owes nothing.
  long silentMillis(long nowMillis) {
    long since = stillSinceMillis;
    return since == NEVER ? 0 : Math.max(0, nowMillis - since);
  }

  /// Ends the stream, if it has stood still for `leastMillis` even now: others wait for what it holds. Safe from any
  /// thread.
  ///
  /// @param ends runs if the stream ends
  void giveWay(long leastMillis, Runnable ends) {
    stillSinceMillis = NEVER; // a thread that runs steps of the stream ends it soon
    serial.run(() -> {
      count();
      if (owing && !stopped && silent >= leastMillis) {
        ends.run();
        throw new AwaitTimeoutException(what + " while others wait for the room of the stream,",
            Duration.ofMillis((long) silent)); // fails the stream
      }
    });
  }

  private void count() {
    long now = rule.timers().now(TimeUnit.MILLISECONDS);
    long bytes = moved.getAsLong();
    double paid = (bytes - movedBefore) * 1000.0 / LEAST_RATE;
    if (bytes > movedBefore) {
      rule.idle().moved();
    }
    silent = Math.max(0, silent + (owing ? now - sinceMillis : 0) - paid);
    owing = owed.getAsBoolean();
    sinceMillis = now;
    movedBefore = bytes;
    stillSinceMillis = owing ? now - (long) silent : NEVER;
  }

  private void look() {
    look = null;
    count();
    if (owing && silent >= rule.limit().toMillis()) {
      throw new AwaitTimeoutException(what, Duration.ofMillis((long) silent)); // fails the stream
    }
    watch();
  }

  /// Ends the watch for good.
  public void stop() {
    stopped = true;
    stillSinceMillis = NEVER;
    if (entered) {
      entered = false;
      rule.idle().leave(this);
    }
    if (look != null) {
      look.cancel();
      look = null;
    }
  }
}
