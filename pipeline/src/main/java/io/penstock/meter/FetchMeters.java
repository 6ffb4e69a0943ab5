package io.penstock.meter;

import static java.util.Objects.requireNonNull;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.penstock.flow.LoadPrefix.Plan;
import io.penstock.flow.LoadPrefix.Reason;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import java.util.function.Consumer;

/// Counts how often a prefix was fetched or computed, and why: the listener of a
/// [io.penstock.flow.LoadPrefix.Choice].
final class FetchMeters implements Consumer<Plan> {
  private final Map<Reason, Counter> decisions = new EnumMap<>(Reason.class);
  private final Counter fetched;
  private final Counter computed;

  /// @param tier its configured name
  public FetchMeters(MeterRegistry registry, String tier) {
    Tags tags = Tags.of(MeterTag.TIER.asString(), tier);
    for (Reason reason : Reason.values()) {
      decisions.put(reason, counter(registry, KvMeters.FETCH_DECISIONS,
          tags.and(MeterTag.REASON.asString(), reason.name().toLowerCase(Locale.ROOT))));
    }
    this.fetched = counter(registry, KvMeters.FETCH_BLOCKS, tags.and(MeterTag.RESULT.asString(), "fetched"));
    this.computed = counter(registry, KvMeters.FETCH_BLOCKS, tags.and(MeterTag.RESULT.asString(), "computed"));
  }

  @Override
  public void accept(Plan plan) {
    requireNonNull(decisions.get(plan.reason())).increment();
    fetched.increment(plan.fetchBlocks());
    computed.increment(plan.foundBlocks() - plan.fetchBlocks());
  }

  private static Counter counter(MeterRegistry registry, KvMeters meter, Tags tags) {
    return Counter.builder(meter.getName()).description(meter.description()).baseUnit(meter.getBaseUnit()).tags(tags)
        .register(registry);
  }
}
