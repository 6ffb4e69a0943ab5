package io.penstock.wire;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;
import reactor.core.scheduler.Scheduler;

/// Ends a stream whose peer owes something and says nothing: after more than the limit and less than twice that, or
/// after a shorter one while others wait for what the stream holds. One timer at a time, however much comes. Every call
/// is a step of the stream's [Serial], and so is the timer's end.
final class SilenceLimit {
  /// How long a stream of the peer may stand still.
  ///
  /// @param pressed how long while others wait for what the stream holds
  /// @param pressure whether others wait
  record Rule(Duration limit, Duration pressed, BooleanSupplier pressure, Scheduler timers) {
    /// A stream that holds nothing for which others wait.
    Rule(Duration limit, Scheduler timers) {
      this(limit, limit, () -> false, timers);
    }
  }

  private final String what;
  private final Rule rule;
  private final Serial serial;
  private final BooleanSupplier owed;
  /// Grows when the peer does something that no step of this stream hears of.
  private final LongSupplier elsewhere;
  private @Nullable Disposable timer;
  private long heard;
  /// Milliseconds of silence when the last timer ended.
  private long silent;

  /// @param what the peer owes, named in the error
  /// @param owed whether it owes anything now
  SilenceLimit(String what, Rule rule, Serial serial, BooleanSupplier owed) {
    this(what, rule, serial, owed, () -> 0);
  }

  /// @param elsewhere grows when the peer does something that no step of this stream hears of
  SilenceLimit(String what, Rule rule, Serial serial, BooleanSupplier owed, LongSupplier elsewhere) {
    this.elsewhere = elsewhere;
    this.what = what;
    this.rule = rule;
    this.serial = serial;
    this.owed = owed;
  }

  /// Watches from now on, until nothing is owed when the timer ends.
  void watch() {
    if (timer == null && owed.getAsBoolean()) {
      long before = told();
      timer = rule.timers().schedule(() -> serial.run(() -> listen(before)), rule.pressed().toMillis(),
          TimeUnit.MILLISECONDS);
    }
  }

  /// Something came.
  void heard() {
    heard++;
  }

  private long told() {
    return heard + elsewhere.getAsLong();
  }

  private void listen(long before) {
    timer = null;
    silent = owed.getAsBoolean() && told() == before ? silent + rule.pressed().toMillis() : 0;
    if (silent >= rule.limit().toMillis() || (silent > 0 && rule.pressure().getAsBoolean())) {
      throw new AwaitTimeoutException(what, Duration.ofMillis(silent)); // fails the stream
    }
    watch();
  }

  void stop() {
    if (timer != null) {
      timer.dispose();
      timer = null;
    }
  }
}
