package io.penstock.node.replay.report;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.node.party.Delivery;
import org.HdrHistogram.AbstractHistogram;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.PackedHistogram;

/// Sums up deliveries. Written by one thread at a time, read by any.
public final class Tally {
  private static final long LONGEST_NANOS = 3_600_000_000_000L;

  @GuardedBy("this") private final Histogram firstSlice = new Histogram(LONGEST_NANOS, 3);
  @GuardedBy("this") private final Histogram firstLayer = new Histogram(LONGEST_NANOS, 3);
  @GuardedBy("this") private final Histogram lastLayer = new Histogram(LONGEST_NANOS, 3);
  /// Sums over all requests: times from the first layer to the last one, and from the question to the last one.
  @GuardedBy("this") private long overlapNanos;
  @GuardedBy("this") private long requestNanos;
  @GuardedBy("this") private PackedHistogram firstLayers = newInterval();
  @GuardedBy("this") private long requests;
  @GuardedBy("this") private long blockRefs;
  @GuardedBy("this") private long hits;
  @GuardedBy("this") private long prefixHits;
  @GuardedBy("this") private long bytesDelivered;
  @GuardedBy("this") private long bytesVerified;
  @GuardedBy("this") private long corruptBlocks;
  @GuardedBy("this") private long repeatedPasses;

  /// The sums at one moment.
  public record Sums(long requests, long blockRefs, long hits, long prefixHits, long bytesDelivered, long bytesVerified,
      long corruptBlocks,
      long repeatedPasses) {}

  /// The sums at one moment, and the nanoseconds from the question to the first layer of the requests since the moment
  /// before.
  public record Interval(Sums sums, AbstractHistogram firstLayers) {}

  public synchronized void add(Delivery delivery) {
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
      firstLayers.recordValue(Math.min(LONGEST_NANOS, delivery.firstLayerNanos()));
      overlapNanos += delivery.lastLayerNanos() - delivery.firstLayerNanos();
      requestNanos += delivery.lastLayerNanos();
      firstLayer.recordValue(Math.min(LONGEST_NANOS, delivery.firstLayerNanos()));
      lastLayer.recordValue(Math.min(LONGEST_NANOS, delivery.lastLayerNanos()));
    }
  }

  public synchronized Sums sums() {
    return new Sums(requests, blockRefs, hits, prefixHits, bytesDelivered, bytesVerified, corruptBlocks,
        repeatedPasses);
  }

  /// Ends an interval and begins the next.
  public synchronized Interval interval() {
    PackedHistogram ended = firstLayers;
    firstLayers = newInterval();
    return new Interval(sums(), ended);
  }

  public synchronized Micros firstSlice() {
    return Micros.of(firstSlice);
  }

  /// [#firstLayer()] in microseconds.
  public synchronized Micros firstLayerMicros() {
    return Micros.of(firstLayer);
  }

  /// Share of the time of all requests that was left when layer 0 of all of their blocks had come; 0 before the first
  /// request.
  public synchronized double overlap() {
    return requestNanos == 0 ? 0 : Math.round(1e4 * overlapNanos / requestNanos) / 1e4;
  }

  public synchronized Latency firstLayer() {
    return Latency.of(firstLayer);
  }

  public synchronized Latency lastLayer() {
    return Latency.of(lastLayer);
  }

  /// Many of them are kept, each of few values: packed, and to 1 %.
  private static PackedHistogram newInterval() {
    return new PackedHistogram(LONGEST_NANOS, 2);
  }
}
