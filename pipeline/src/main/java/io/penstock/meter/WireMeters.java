package io.penstock.meter;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;

/// Counts the connections that a bound of a node ended. Every meter exists from the start, at 0. Safe from any thread.
public final class WireMeters {
  private final Map<String, Counter> refused = new HashMap<>();

  /// @param registry where the meters live
  /// @param bounds a word for each bound
  public WireMeters(MeterRegistry registry, Collection<String> bounds) {
    bounds.forEach(bound -> refused.put(bound, Counter.builder(KvMeters.WIRE_REFUSED.getName())
        .description(KvMeters.WIRE_REFUSED.description()).tags(Tags.of(MeterTag.CODE.asString(), bound))
        .register(registry)));
  }

  /// A bound ended a connection.
  public void refused(String bound) {
    Counter counter = refused.get(bound);
    if (counter == null) {
      throw new IllegalArgumentException("bound must be one of " + refused.keySet() + " (was " + bound + ")");
    }
    counter.increment();
  }
}
