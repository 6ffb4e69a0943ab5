package io.penstock.lab.bench.side;

import java.util.List;
import org.HdrHistogram.Histogram;

/// A measured load: it runs for a while and reports its work.
public interface Load extends AutoCloseable {
  /// Runs for `nanos`.
  Done run(long nanos);

  /// Words for the carriers of the bytes so far; empty of a load that does not report them.
  default List<String> carriedBy() {
    return List.of();
  }

  @Override
  void close();

  /// Work of a run and its time.
  ///
  /// @param units bytes or answers, as the load says
  /// @param latencies of its requests, in nanoseconds; empty if it has none
  /// @param otherCpuNanos CPU time of processes that are neither side of the benchmark
  record Done(long units, long nanos, Histogram latencies, long otherCpuNanos) {
    public Done(long units, long nanos, Histogram latencies) {
      this(units, nanos, latencies, 0);
    }

    double perSecond() {
      return units * 1e9 / nanos;
    }
  }
}
