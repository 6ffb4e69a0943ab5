package io.penstock.node.bench;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;

/// Copies the same bytes to the same place, again and again: both stay in the caches. Its units are copies.
final class MemoryCopyLoad implements Load {
  private static final long MOST_NANOS = TimeUnit.SECONDS.toNanos(10);

  private final Arena arena = Arena.ofShared();
  private final MemorySegment from;
  private final MemorySegment to;

  MemoryCopyLoad(long bytes) {
    this.from = arena.allocate(bytes, 64).fill((byte) 3);
    this.to = arena.allocate(bytes, 64).fill((byte) 4);
  }

  @Override
  public Done run(long nanos) {
    Histogram latencies = new Histogram(MOST_NANOS, 3);
    long first = System.nanoTime();
    long began = first;
    long done = 0;
    while (began - first < nanos) {
      to.copyFrom(from);
      long end = System.nanoTime();
      latencies.recordValue(Math.min(end - began, MOST_NANOS));
      began = end;
      done++;
    }
    return new Done(done, began - first, latencies);
  }

  @Override
  public void close() {
    arena.close();
  }
}
