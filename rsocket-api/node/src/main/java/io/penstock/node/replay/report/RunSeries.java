package io.penstock.node.replay.report;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/// A run in numbers over time, as it is written in JSON. Every list has a value for each interval, in order.
///
/// @param seconds end of each interval, since the run began; the first begins at 0, each other where the one before
///     ends
/// @param requests requests that ended
/// @param hitsByTier for each tier the references that it answered, fastest first, as the node counts them
/// @param misses references that no tier answered, likewise
/// @param bytesDelivered payload bytes of the requests that ended
/// @param inFlightBytes most bytes in flight that a sample saw
/// @param budgetBytes the limit on them
/// @param firstLayerMicros `p50`, `p90` and `p99` of the time from a question until layer 0 of every block of
///     its request had come; null where no request ended
/// @param blocksByTier for each tier the blocks that the ledger assigned to it, at the end of the interval
/// @param capacityBlocksByTier for each tier the most blocks; null if unbounded
public record RunSeries(List<Double> seconds, List<Long> requests, Map<String, List<Long>> hitsByTier,
    List<Long> misses,
    List<Long> bytesDelivered,
    List<Long> inFlightBytes, long budgetBytes, Map<String, List<@Nullable Long>> firstLayerMicros,
    Map<String, List<Long>> blocksByTier,
    Map<String, @Nullable Long> capacityBlocksByTier) {

  public static RunSeries of(Timeline timeline) {
    List<TimelinePoint> points = timeline.points();
    Map<String, List<Long>> hits = new LinkedHashMap<>();
    Map<String, List<Long>> blocks = new LinkedHashMap<>();
    Map<String, @Nullable Long> capacities = new LinkedHashMap<>();
    timeline.start().fill().forEach((name, fill) -> {
      hits.put(name, growth(points, timeline.start().hits(name), point -> point.ledger().hits(name)));
      blocks.put(name, points.stream().map(point -> point.ledger().blocks(name)).toList());
      capacities.put(name, fill.capacityBlocks());
    });
    return new RunSeries(points.stream().map(point -> Math.round(point.nanos() / 1e5) / 1e4).toList(),
        growth(points, 0, point -> point.sums().requests()), hits,
        growth(points, timeline.start().misses(), point -> point.ledger().misses()),
        growth(points, 0, point -> point.sums().bytesDelivered()),
        points.stream().map(TimelinePoint::inFlightBytes).toList(),
        timeline.budgetBytes(), percentiles(points), blocks, capacities);
  }

  /// Growth of a counter in each interval.
  private static List<Long> growth(List<TimelinePoint> points, long start, ToLongFunction<TimelinePoint> counter) {
    List<Long> growth = new ArrayList<>(points.size());
    long before = start;
    for (TimelinePoint point : points) {
      long now = counter.applyAsLong(point);
      growth.add(now - before);
      before = now;
    }
    return growth;
  }

  private static Map<String, List<@Nullable Long>> percentiles(List<TimelinePoint> points) {
    Map<String, List<@Nullable Long>> percentiles = new LinkedHashMap<>();
    percentiles.put("p50", percentile(points, Micros::p50));
    percentiles.put("p90", percentile(points, Micros::p90));
    percentiles.put("p99", percentile(points, Micros::p99));
    return percentiles;
  }

  private static List<@Nullable Long> percentile(List<TimelinePoint> points, Function<Micros, Long> choice) {
    List<@Nullable Long> values = new ArrayList<>(points.size());
    for (TimelinePoint point : points) {
      values.add(point.firstLayers().getTotalCount() == 0 ? null : choice.apply(Micros.of(point.firstLayers())));
    }
    return values;
  }
}
