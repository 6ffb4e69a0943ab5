package io.penstock.meter;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/// Times the gets and puts of clients and counts their bytes, by transport and direction. Meters appear with the first
/// stream of their kind. Safe from any thread.
public final class ClientMeters {
  /// Buckets of the histogram lie between these.
  private static final Duration LEAST = Duration.ofNanos(50_000);
  private static final Duration MOST = Duration.ofMinutes(1);

  private final MeterRegistry registry;
  private final Map<Kind, Meters> kinds = new ConcurrentHashMap<>();

  public ClientMeters(MeterRegistry registry) {
    this.registry = registry;
  }

  private record Kind(String transport, String direction) {}

  private record Meters(Timer duration, Counter bytes) {}

  /// A get or a put ended.
  ///
  /// @param direction `in` for a get, `out` for a put
  /// @param failure a word of an enum; null if it did not fail
  public void ended(String transport, String direction, long bytes, long nanos, @Nullable String failure) {
    Meters meters = kinds.computeIfAbsent(new Kind(transport, direction), this::meters);
    meters.duration.record(nanos, TimeUnit.NANOSECONDS);
    meters.bytes.increment(bytes);
    if (failure != null) {
      counter(KvMeters.CLIENT_FAILURES, Tags.of(MeterTag.CODE.asString(), failure)).increment();
    }
  }

  private Meters meters(Kind kind) {
    Tags tags =
        Tags.of(MeterTag.TRANSPORT.asString(), kind.transport, MeterTag.DIRECTION.asString(), kind.direction);
    KvMeters duration = KvMeters.CLIENT_DURATION;
    return new Meters(Timer.builder(duration.getName()).description(duration.description()).tags(tags)
        .publishPercentileHistogram().minimumExpectedValue(LEAST).maximumExpectedValue(MOST).register(registry),
        counter(KvMeters.CLIENT_CARRIED, tags));
  }

  private Counter counter(KvMeters meter, Tags tags) {
    return Counter.builder(meter.getName()).description(meter.description()).baseUnit(meter.getBaseUnit()).tags(tags)
        .register(registry);
  }
}
