package io.penstock.wire;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;
import reactor.core.scheduler.Scheduler;

/// Ends a stream whose peer owes something and says nothing: after more than the limit and less than twice that. One
/// timer at a time, however much comes. Every call is a step of the stream's [Serial], and so is the timer's end.
final class SilenceLimit {
  /// How long a stream of the peer may stand still.
  record Rule(Duration limit, Scheduler timers) {}

  private final String what;
  private final Duration limit;
  private final Scheduler timers;
  private final Serial serial;
  private final BooleanSupplier owed;
  /// Grows when the peer does something that no step of this stream hears of.
  private final LongSupplier elsewhere;
  private @Nullable Disposable timer;
  private long heard;

  /// @param what the peer owes, named in the error
  /// @param owed whether it owes anything now
  SilenceLimit(String what, Rule rule, Serial serial, BooleanSupplier owed) {
    this(what, rule, serial, owed, () -> 0);
  }

  /// @param elsewhere grows when the peer does something that no step of this stream hears of
  SilenceLimit(String what, Rule rule, Serial serial, BooleanSupplier owed, LongSupplier elsewhere) {
    this.elsewhere = elsewhere;
    this.what = what;
    this.limit = rule.limit();
    this.timers = rule.timers();
    this.serial = serial;
    this.owed = owed;
  }

  /// Watches from now on, until nothing is owed when the timer ends.
  void watch() {
    if (timer == null && owed.getAsBoolean()) {
      long before = told();
      timer = timers.schedule(() -> serial.run(() -> listen(before)), limit.toMillis(), TimeUnit.MILLISECONDS);
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
    if (owed.getAsBoolean() && told() == before) {
      throw new AwaitTimeoutException(what, limit); // fails the stream
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
