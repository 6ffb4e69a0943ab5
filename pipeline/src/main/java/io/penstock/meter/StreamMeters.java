package io.penstock.meter;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/// Times the streams of slices of a node and counts their bytes, by route and carrier. Meters appear with the first
/// stream of their kind. Safe from any thread.
public final class StreamMeters {
  /// Buckets of the histogram lie between these.
  private static final Duration LEAST = Duration.ofNanos(50_000);
  private static final Duration MOST = Duration.ofMinutes(1);

  private final MeterRegistry registry;
  private final Map<Kind, Meters> kinds = new ConcurrentHashMap<>();
  private final Counter refused;
  private final Counter delayed;

  public StreamMeters(MeterRegistry registry) {
    this.registry = registry;
    this.refused = counter(KvMeters.LIMIT_REFUSED, Tags.empty());
    this.delayed = counter(KvMeters.LIMIT_DELAYED, Tags.empty());
  }

  /// The rate of a connection refused a request.
  public void requestRefused() {
    refused.increment();
  }

  /// The rate of a connection has bytes wait.
  public void bytesDelayed(long nanos) {
    increment(delayed, nanos);
  }

  private record Kind(String route, String carrier) {}

  private record Meters(Timer duration, Counter bytes, Map<String, Counter> waited) {}

  /// A stream ended.
  ///
  /// @param route a word of the protocol
  /// @param carrier that carried most of the bytes
  /// @param waits nanoseconds by the word for their culprit; all streams of a route have equal words
  /// @param failure a word of an enum; null if it did not fail
  public void ended(String route, String carrier, long bytes, long nanos, Map<String, Long> waits,
      @Nullable String failure) {
    Meters meters = kinds.computeIfAbsent(new Kind(route, carrier), kind -> meters(kind, waits.keySet()));
    meters.duration.record(nanos, TimeUnit.NANOSECONDS);
    meters.bytes.increment(bytes);
    meters.waited.forEach((culprit, counter) -> increment(counter, waits.getOrDefault(culprit, 0L)));
    if (failure != null) {
      Tags tags = Tags.of(MeterTag.ROUTE.asString(), route, MeterTag.CODE.asString(), failure);
      counter(KvMeters.STREAM_FAILURES, tags).increment();
    }
  }

  private static void increment(Counter counter, long nanos) {
    counter.increment(nanos / 1e6);
  }

  private Meters meters(Kind kind, Set<String> culprits) {
    Tags tags = Tags.of(MeterTag.ROUTE.asString(), kind.route, MeterTag.CARRIER.asString(), kind.carrier);
    KvMeters duration = KvMeters.STREAM_DURATION;
    return new Meters(
        Timer.builder(duration.getName()).description(duration.description()).tags(tags)
            .publishPercentileHistogram().minimumExpectedValue(LEAST).maximumExpectedValue(MOST).register(registry),
        counter(KvMeters.STREAM_CARRIED, tags),
        culprits.stream().collect(Collectors.toUnmodifiableMap(culprit -> culprit, culprit -> waited(tags, culprit))));
  }

  private Counter waited(Tags tags, String reason) {
    return counter(KvMeters.STREAM_WAITED, tags.and(MeterTag.REASON.asString(), reason));
  }

  private Counter counter(KvMeters meter, Tags tags) {
    return Counter.builder(meter.getName()).description(meter.description()).baseUnit(meter.getBaseUnit()).tags(tags)
        .register(registry);
  }
}
