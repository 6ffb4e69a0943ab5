package io.penstock.lab.bench.side;

import java.util.List;
import org.HdrHistogram.Histogram;

/// Something that is measured: it runs for a while and says what it did.
public interface Load extends AutoCloseable {
  /// Runs for `nanos`.
  Done run(long nanos);

  /// Words for what carried the bytes so far; empty of a load that does not tell.
  default List<String> carriedBy() {
    return List.of();
  }

  @Override
  void close();

  /// What was done in how long.
  ///
  /// @param units bytes or answers, as the load says
  /// @param latencies of its requests, in nanoseconds; empty if it has none
  record Done(long units, long nanos, Histogram latencies) {
    double perSecond() {
      return units * 1e9 / nanos;
    }
  }
}
