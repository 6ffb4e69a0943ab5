package io.penstock.lab.attack;

import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;

/// Durations of calls, in milliseconds; all 0 if there were none.
record Latency(long calls, double p50, double p99, double slowest) {
  private static final double NANOS = TimeUnit.MILLISECONDS.toNanos(1);

  static Latency of(Histogram nanos) {
    return new Latency(nanos.getTotalCount(), nanos.getValueAtPercentile(50) / NANOS,
        nanos.getValueAtPercentile(99) / NANOS, nanos.getMaxValue() / NANOS);
  }

  /// Ratio of the slowest call to the slowest of `quiet`.
  double timesOf(Latency quiet) {
    return quiet.slowest == 0 ? 0 : slowest / quiet.slowest;
  }
}
