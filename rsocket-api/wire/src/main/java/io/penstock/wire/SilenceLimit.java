package io.penstock.wire;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;
import reactor.core.scheduler.Scheduler;

/// Ends a stream whose sender owes something and says nothing: after more than the limit and less than twice that. One
/// timer at a time, however much comes. Every call is a step of the stream's [Serial], and so is the timer's end.
final class SilenceLimit {
  private final Duration limit;
  private final Scheduler timers;
  private final Serial serial;
  private final BooleanSupplier owed;
  private @Nullable Disposable timer;
  private long heard;

  /// @param owed whether anything was asked for and has not come
  SilenceLimit(Duration limit, Scheduler timers, Serial serial, BooleanSupplier owed) {
    this.limit = limit;
    this.timers = timers;
    this.serial = serial;
    this.owed = owed;
  }

  /// Watches from now on, until nothing is owed when the timer ends.
  void watch() {
    if (timer == null && owed.getAsBoolean()) {
      long before = heard;
      timer = timers.schedule(() -> serial.run(() -> listen(before)), limit.toMillis(), TimeUnit.MILLISECONDS);
    }
  }

  /// Something came.
  void heard() {
    heard++;
  }

  private void listen(long before) {
    timer = null;
    if (owed.getAsBoolean() && heard == before) {
      throw new AwaitTimeoutException("slices that were asked for", limit); // fails the stream
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
