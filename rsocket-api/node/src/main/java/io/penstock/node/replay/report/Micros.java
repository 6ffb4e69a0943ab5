package io.penstock.node.replay.report;

import com.fasterxml.jackson.annotation.JsonPropertyOrder;
import org.HdrHistogram.AbstractHistogram;

/// Percentiles of a time that requests took, in microseconds.
@JsonPropertyOrder({"p50", "p90", "p99", "p999", "max"})
public record Micros(long p50, long p90, long p99, long p999, long max) {
  static Micros of(AbstractHistogram nanos) {
    return new Micros(at(nanos, 50), at(nanos, 90), at(nanos, 99), at(nanos, 99.9), at(nanos, 100));
  }

  private static long at(AbstractHistogram nanos, double percentile) {
    return Math.round(nanos.getValueAtPercentile(percentile) / 1e3);
  }
}
