package io.penstock.meter;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import java.util.function.IntSupplier;
import java.util.function.LongSupplier;

/// Shows the work of a node for the processes of its side-car. The registry keeps this object alive.
public final class SideCarMeters {
  private final MeterRegistry registry;

  /// Shows the number of clients, and the memory mapped for them.
  public SideCarMeters(MeterRegistry registry, IntSupplier clients, IntSupplier regions, LongSupplier mappedBytes) {
    this.registry = registry;
    Gauges.gauge(registry, KvMeters.SIDECAR_CLIENTS, Tags.empty(), this, meters -> clients.getAsInt());
    Gauges.gauge(registry, KvMeters.SIDECAR_REGIONS, Tags.empty(), this, meters -> regions.getAsInt());
    Gauges.gauge(registry, KvMeters.SIDECAR_MAPPED, Tags.empty(), this, meters -> mappedBytes.getAsLong());
  }

  /// Shows calls of copies that ended well, and their bytes.
  public void copied(LongSupplier calls, LongSupplier bytes) {
    count(KvMeters.SIDECAR_COPIES, Tags.empty(), calls);
    count(KvMeters.SIDECAR_COPIED, Tags.empty(), bytes);
  }

  /// Shows requests that were refused or failed.
  ///
  /// @param code a word of an enum
  public void failed(String code, LongSupplier requests) {
    count(KvMeters.SIDECAR_FAILURES, Tags.of(MeterTag.CODE.asString(), code), requests);
  }

  private void count(KvMeters meter, Tags tags, LongSupplier figure) {
    FunctionCounter.builder(meter.getName(), this, meters -> figure.getAsLong()).description(meter.description())
        .baseUnit(meter.getBaseUnit())
        .tags(tags).register(registry);
  }
}
