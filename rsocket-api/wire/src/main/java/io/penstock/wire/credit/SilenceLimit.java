package io.penstock.wire.credit;

import io.penstock.operator.Serial;
import io.penstock.wire.protocol.WireFailure.AwaitTimeoutException;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;
import reactor.core.scheduler.Scheduler;

/// Ends a stream whose peer owes something and moves too little: when the time in which it owed, less the time that the
/// bytes it moved take at [#LEAST_RATE], reaches the limit, or a shorter one while others wait for what the stream
/// holds. So a peer that trickles has its stream for the limit and the time of its bytes, and no longer.
///
/// Looks at most twice the limit late: one timer at a time, however much comes. Every call is a step of the stream's
/// [Serial], and so is the timer's end.
public final class SilenceLimit {
  /// Bytes a second that a peer must move while it owes.
  static final long LEAST_RATE = 32 << 10;

  /// Maximum times for which a stream of the peer may stand still.
  ///
  /// @param pressed time while others wait for resources that the stream holds
  /// @param pressure whether others wait
  /// @param timers clock of the limits
  public record Rule(Duration limit, Duration pressed, BooleanSupplier pressure, Scheduler timers) {
    /// A stream that holds nothing for which others wait.
    public Rule(Duration limit, Scheduler timers) {
      this(limit, limit, () -> false, timers);
    }
  }

  private final String what;
  private final Rule rule;
  private final Serial serial;
  private final BooleanSupplier owed;
  private final LongSupplier moved;
  private @Nullable Disposable timer;
  /// Whether the peer owed at the last step.
  private boolean owing;
  private long sinceMillis;
  private long movedBefore;
  /// Milliseconds in which the peer owed, less those that its bytes take.
  private double silent;

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

  /// Watches from now on, until nothing is owed when the timer ends. To be called after each step that changes the
  /// debt.
  public void watch() {
    count();
    if (timer == null && owing) {
      timer = rule.timers().schedule(() -> serial.run(this::look), rule.pressed().toMillis(), TimeUnit.MILLISECONDS);
    }
  }

  private void count() {
    long now = rule.timers().now(TimeUnit.MILLISECONDS);
    long bytes = moved.getAsLong();
    double paid = (bytes - movedBefore) * 1000.0 / LEAST_RATE;
    silent = Math.max(0, silent + (owing ? now - sinceMillis : 0) - paid);
    owing = owed.getAsBoolean();
    sinceMillis = now;
    movedBefore = bytes;
  }

  private void look() {
    timer = null;
    count();
    Duration most = rule.pressure().getAsBoolean() ? rule.pressed() : rule.limit();
    if (owing && silent >= most.toMillis()) {
      throw new AwaitTimeoutException(what, Duration.ofMillis((long) silent)); // fails the stream
    }
    watch();
  }

  public void stop() {
    if (timer != null) {
      timer.dispose();
      timer = null;
    }
  }
}
