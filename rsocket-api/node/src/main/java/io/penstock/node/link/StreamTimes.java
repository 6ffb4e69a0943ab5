package io.penstock.node.link;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.wire.report.StreamListener;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;

/// Durations of the gets and puts of a client. Safe from any thread.
public final class StreamTimes implements StreamListener {
  private static final long MOST_NANOS = TimeUnit.HOURS.toNanos(1);
  private static final int DIGITS = 3;

  @GuardedBy("this") private final Map<String, Histogram> nanos = new TreeMap<>();

  /// @param count gets, or puts
  /// @param p50Millis half of them took no longer
  /// @param p99Millis 99 of 100 took no longer
  public record Times(long count, double p50Millis, double p99Millis) {
    static Times of(Histogram nanos) {
      return new Times(nanos.getTotalCount(), millis(nanos, 50), millis(nanos, 99));
    }

    /// Milliseconds with three decimals.
    private static double millis(Histogram nanos, double percentile) {
      return Math.round(nanos.getValueAtPercentile(percentile) / 1e3) / 1e3;
    }
  }

  @Override
  public synchronized void ended(Report stream) {
    nanos.computeIfAbsent(stream.route(), any -> new Histogram(MOST_NANOS, DIGITS))
        .recordValue(Math.min(stream.nanos(), MOST_NANOS));
  }

  /// Times by route, `get` and `put`; without routes of which no request ended.
  public synchronized Map<String, Times> times() {
    Map<String, Times> times = new TreeMap<>();
    nanos.forEach((route, histogram) -> times.put(route, Times.of(histogram)));
    return times;
  }
}
