package io.penstock.node.kvevents;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.function.ToDoubleFunction;

/// Shows the work of a publisher of KV events.
public final class KvEventsMeters {
  private KvEventsMeters() {}

  /// @param tier whose events are published
  public static void show(MeterRegistry registry, String tier, KvEventsPublisher publisher) {
    count(registry, tier, publisher, "penstock.kv.events.published", "Changes of blocks published as KV "
        + "events",
        KvEventsPublisher::published);
    count(registry, tier, publisher, "penstock.kv.events.dropped", "Changes of blocks covered by a snapshot "
        + "instead",
        KvEventsPublisher::dropped);
    count(registry, tier, publisher, "penstock.kv.events.snapshots", "Snapshots of all blocks published as "
        + "KV events",
        KvEventsPublisher::snapshots);
    count(registry, tier, publisher, "penstock.kv.events.replayed", "Batches of KV events that consumers had replayed",
        KvEventsPublisher::replayed);
    count(registry, tier, publisher, "penstock.kv.events.tokens.dropped", "Blocks whose token ids were dropped because "
        + "there were more than kv.events.tokens",
        each -> each.tokens().dropped());
    Gauge.builder("penstock.kv.events.tokens.blocks", publisher, each -> each.tokens().size()).tag("tier", tier)
        .description("Blocks whose token ids are kept for KV events").register(registry);
  }

  private static void count(MeterRegistry registry, String tier, KvEventsPublisher publisher, String name,
      String description, ToDoubleFunction<KvEventsPublisher> count) {
    FunctionCounter.builder(name, publisher, count).tag("tier", tier).description(description).register(registry);
  }
}
