package io.penstock.node.serve;

import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.penstock.meter.PenstockMeters;
import io.penstock.wire.MeteredWire;

/// The registry of a node, and what shows its parts there.
record NodeMeters(PrometheusMeterRegistry registry, PenstockMeters meters, MeteredWire wire) {
  static NodeMeters create() {
    PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
    PenstockMeters meters = PenstockMeters.in(registry);
    return new NodeMeters(registry, meters, new MeteredWire(meters));
  }
}
