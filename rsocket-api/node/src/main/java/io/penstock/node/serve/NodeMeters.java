package io.penstock.node.serve;

import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.binder.BaseUnits;
import io.micrometer.core.instrument.config.MeterFilter;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.penstock.meter.PenstockMeters;
import io.penstock.wire.MeteredWire;

/// The registry of a node, and what shows its parts there.
record NodeMeters(PrometheusMeterRegistry registry, PenstockMeters meters, MeteredWire wire) {
  static NodeMeters create() {
    PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
    registry.config().meterFilter(new NettyMemory());
    PenstockMeters meters = PenstockMeters.in(registry);
    return new NodeMeters(registry, meters, new MeteredWire(meters));
  }

  /// Gives the meter of Netty's memory its unit and a description, which it lacks.
  private static final class NettyMemory implements MeterFilter {
    private static final String NAME = "netty.allocator.memory.used";

    @Override
    public Meter.Id map(Meter.Id id) {
      return id.getName().equals(NAME)
          ? new Meter.Id(NAME, Tags.of(id.getTagsAsIterable()), BaseUnits.BYTES,
              "Memory that Netty's buffers have taken", id.getType())
          : id;
    }
  }
}
