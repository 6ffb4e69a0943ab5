package io.penstock.node.replay;

import org.HdrHistogram.Histogram;

/// Sums up deliveries. Written by one thread at a time, read by any.
final class Tally {
  private static final long LONGEST_NANOS = 3_600_000_000_000L;

  private final Histogram firstSlice = new Histogram(LONGEST_NANOS, 3);
  private final Histogram firstLayer = new Histogram(LONGEST_NANOS, 3);
  private final Histogram lastLayer = new Histogram(LONGEST_NANOS, 3);
  private long requests;
  private long blockRefs;
  private long hits;
  private long prefixHits;
  private long bytesDelivered;
  private long bytesVerified;
  private long corruptBlocks;
  private long repeatedPasses;

  /// The sums at one moment.
  record Sums(long requests, long blockRefs, long hits, long prefixHits, long bytesDelivered, long bytesVerified, long corruptBlocks,
      long repeatedPasses) {}

  synchronized void add(Delivery delivery) {
    requests++;
    blockRefs += delivery.blocks();
    hits += delivery.hits();
    prefixHits += delivery.prefixHits();
    bytesDelivered += delivery.bytesDelivered();
    bytesVerified += delivery.bytesVerified();
    corruptBlocks += delivery.corruptBlocks();
    repeatedPasses += Math.max(0, delivery.passes() - 1);
    if (delivery.blocks() > 0) {
      firstSlice.recordValue(Math.min(LONGEST_NANOS, delivery.firstSliceNanos()));
      firstLayer.recordValue(Math.min(LONGEST_NANOS, delivery.firstLayerNanos()));
      lastLayer.recordValue(Math.min(LONGEST_NANOS, delivery.lastLayerNanos()));
    }
  }

  synchronized Sums sums() {
    return new Sums(requests, blockRefs, hits, prefixHits, bytesDelivered, bytesVerified, corruptBlocks, repeatedPasses);
  }

  synchronized Micros firstSlice() {
    return Micros.of(firstSlice);
  }

  synchronized Latency firstLayer() {
    return Latency.of(firstLayer);
  }

  synchronized Latency lastLayer() {
    return Latency.of(lastLayer);
  }
}
