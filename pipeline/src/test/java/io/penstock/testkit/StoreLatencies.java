package io.penstock.testkit;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/// How long stores took, as a client saw it, and what vLLM makes of it: while the moving average of a tier is above a
/// second, until it is below half of one, it silently drops the stores for that tier. Safe from any thread.
public final class StoreLatencies {
  private static final double TRIPS_NANOS = TimeUnit.MILLISECONDS.toNanos(1000);
  /// Share of the newest store in the average; a large one trips earlier.
  private static final double NEWEST = 0.3;

  private final List<Long> nanos = new ArrayList<>();
  private double average;
  private double worstAverage;

  /// @param took nanoseconds
  public synchronized void add(long took) {
    average = nanos.isEmpty() ? took : (1 - NEWEST) * average + NEWEST * took;
    worstAverage = Math.max(worstAverage, average);
    nanos.add(took);
  }

  public synchronized int count() {
    return nanos.size();
  }

  /// Whether vLLM would have dropped stores at some time.
  public synchronized boolean hasTripped() {
    return worstAverage > TRIPS_NANOS;
  }

  /// Within how many milliseconds the door answered a share of the stores.
  ///
  /// @param share such as 0.99
  public synchronized long millis(double share) {
    List<Long> sorted = nanos.stream().sorted().toList();
    return TimeUnit.NANOSECONDS.toMillis(sorted.get((int) Math.ceil(share * sorted.size()) - 1));
  }

  @Override
  public synchronized String toString() {
    return "%d stores: p50 %d ms, p99 %d ms, longest %d ms, worst average %.0f ms".formatted(nanos.size(), millis(0.5),
        millis(0.99), millis(1), worstAverage / 1e6);
  }
}
