package io.penstock.meter;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.DistributionSummary;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.IntSupplier;

/// Counts the copies of one device. A way and a method have their meters from their first copy on, a code from its
/// first failure on.
///
/// Safe from any thread; a call costs a look-up and a few atomic adds.
public final class CopyMeters {
  private final MeterRegistry registry;
  private final Tags tags;
  private final Counter fallbacks;
  private final Map<Route, Copies> copies = new ConcurrentHashMap<>();
  private final Map<String, Counter> failed = new ConcurrentHashMap<>();

  private record Route(String direction, String method) {}

  private record Copies(Counter bytes, DistributionSummary elements, Timer duration) {}

  /// @param registry where the meters live
  /// @param device its name
  public CopyMeters(MeterRegistry registry, String device) {
    this.registry = registry;
    this.tags = Tags.of(MeterTag.DEVICE.asString(), device);
    this.fallbacks = counter(KvMeters.COPY_FALLBACKS, tags);
  }

  /// Shows how many copies are under way and how many wait.
  public void show(IntSupplier underWay, IntSupplier waiting) {
    Gauges.gauge(registry, KvMeters.COPY_UNDER_WAY, tags, underWay, IntSupplier::getAsInt);
    Gauges.gauge(registry, KvMeters.COPY_WAITING, tags, waiting, IntSupplier::getAsInt);
  }

  /// Elements were copied together, or should have been.
  ///
  /// @param direction a word of an enum, as `method` is
  public void called(String direction, String method, int elements, long bytes, long nanos) {
    Copies of = copies.computeIfAbsent(new Route(direction, method), this::copies);
    of.bytes().increment(bytes);
    of.elements().record(elements);
    of.duration().record(nanos, TimeUnit.NANOSECONDS);
  }

  /// @param isTimeout whether the time limit was exceeded; other failures are counted separately
  /// @param code a word of an enum
  public void failed(boolean isTimeout, String code, int elements) {
    failed.computeIfAbsent(code,
        one -> counter(KvMeters.COPY_FAILED, tags.and(MeterTag.CODE.asString(), one, MeterTag.RESULT.asString(),
            isTimeout ? "timeout" : "failure")))
        .increment(elements);
  }

  public void fellBack() {
    fallbacks.increment();
  }

  private Copies copies(Route route) {
    Tags both = tags.and(MeterTag.DIRECTION.asString(), route.direction(), MeterTag.METHOD.asString(), route.method());
    return new Copies(counter(KvMeters.COPY_CARRIED, both),
        DistributionSummary.builder(KvMeters.COPY_BATCH.getName()).description(KvMeters.COPY_BATCH.description())
            .baseUnit(KvMeters.COPY_BATCH.getBaseUnit()).tags(both).register(registry),
        Timer.builder(KvMeters.COPY_DURATION.getName()).description(KvMeters.COPY_DURATION.description()).tags(both)
            .register(registry));
  }

  private Counter counter(KvMeters meter, Tags tags) {
    return Counter.builder(meter.getName()).description(meter.description()).baseUnit(meter.getBaseUnit()).tags(tags)
        .register(registry);
  }
}
