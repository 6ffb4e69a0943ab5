package io.penstock.testkit;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
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

  /// A client that stores values.
  public interface Writer extends AutoCloseable {
    /// Stores one value, and waits for the answer.
    void store(int number) throws Exception;

    @Override
    void close() throws IOException;
  }

  /// Opens a writer.
  public interface Opening {
    Writer open(int number) throws Exception;
  }

  /// Measures `writers` that store one value after the other for `seconds`.
  public static StoreLatencies of(int writers, int seconds, Opening opening) throws Exception {
    StoreLatencies took = new StoreLatencies();
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(seconds);
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Future<?>> running = new ArrayList<>();
      for (int i = 0; i < writers; i++) {
        int number = i;
        running.add(threads.submit(() -> {
          took.storeUntil(end, opening, number);
          return null;
        }));
      }
      for (Future<?> each : running) {
        each.get();
      }
    }
    return took;
  }

  private void storeUntil(long end, Opening opening, int number) throws Exception {
    try (Writer writer = opening.open(number)) {
      long began = System.nanoTime();
      for (int i = 0; began < end; i++) {
        writer.store(i);
        long now = System.nanoTime();
        add(now - began);
        began = now;
      }
    }
  }

  private synchronized void add(long took) {
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
