package io.penstock.meter;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;

/// When figures that gauges share were asked for, so that one scrape of many gauges asks once. Safe from any thread.
final class Freshness {
  static final Duration MAX_AGE = Duration.ofSeconds(1);

  private final LongSupplier nanos;
  private final AtomicLong due;

  /// @param nanos a clock
  Freshness(LongSupplier nanos) {
    this.nanos = nanos;
    this.due = new AtomicLong(nanos.getAsLong());
  }

  /// True for one caller when the figures are too old: that caller asks for new ones.
  boolean claim() {
    long wasDue = due.get();
    long now = nanos.getAsLong();
    return now - wasDue >= 0 && due.compareAndSet(wasDue, now + MAX_AGE.toNanos());
  }

  /// The figures are asked for now.
  void renew() {
    due.set(nanos.getAsLong() + MAX_AGE.toNanos());
  }
}
