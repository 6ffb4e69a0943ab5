package io.penstock.node.replay.report;

import com.fasterxml.jackson.annotation.JsonPropertyOrder;
import org.HdrHistogram.Histogram;

/// Percentiles of a time that requests took, in milliseconds.
@JsonPropertyOrder({"p50", "p90", "p99", "p999", "max"})
public record Latency(double p50, double p90, double p99, double p999, double max) {
  static Latency of(Histogram nanos) {
    return new Latency(at(nanos, 50), at(nanos, 90), at(nanos, 99), at(nanos, 99.9), millis(nanos.getMaxValue()));
  }

  private static double at(Histogram nanos, double percentile) {
    return millis(nanos.getValueAtPercentile(percentile));
  }

  /// Milliseconds with three decimals.
  private static double millis(long nanos) {
    return Math.round(nanos / 1e3) / 1e3;
  }
}
