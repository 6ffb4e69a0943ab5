package io.penstock.meter;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.LongSupplier;

/// Counts the connections of a node, and those that one of its bounds ended. Every meter exists from the start, at 0.
/// Safe from any thread.
public final class WireMeters {
  /// Why a connection ended: in order, by a bound of the node, by the network or a peer that vanished, by a failure.
  public static final List<String> REASONS = List.of("closed", "refused", "lost", "failed");

  private final MeterRegistry registry;
  /// The registry has weak references to them.
  private final List<LongSupplier> shown = new CopyOnWriteArrayList<>();
  private final Map<String, Counter> refused = new HashMap<>();
  private final Map<String, Counter> connects = new HashMap<>();
  private final Map<List<String>, Counter> disconnects = new HashMap<>();

  /// @param registry where the meters live
  /// @param bounds a word for each bound
  /// @param transports a word for each transport
  public WireMeters(MeterRegistry registry, Collection<String> bounds, Collection<String> transports) {
    this.registry = registry;
    bounds.forEach(bound -> refused.put(bound,
        counter(KvMeters.WIRE_REFUSED, Tags.of(MeterTag.CODE.asString(), bound))));
    for (String transport : transports) {
      Tags tags = Tags.of(MeterTag.TRANSPORT.asString(), transport);
      connects.put(transport, counter(KvMeters.WIRE_CONNECTS, tags));
      REASONS.forEach(reason -> disconnects.put(List.of(transport, reason),
          counter(KvMeters.WIRE_DISCONNECTS, tags.and(MeterTag.REASON.asString(), reason))));
    }
  }

  private Counter counter(KvMeters meter, Tags tags) {
    return Counter.builder(meter.getName()).description(meter.description()).tags(tags).register(registry);
  }

  /// Shows the bytes that the connections of `transport` have moved.
  public void bytes(String transport, LongSupplier in, LongSupplier out) {
    shown.addAll(List.of(in, out));
    Map.of("in", in, "out", out).forEach((direction, bytes) -> FunctionCounter
        .builder(KvMeters.WIRE_BYTES.getName(), bytes, LongSupplier::getAsLong)
        .description(KvMeters.WIRE_BYTES.description()).baseUnit(KvMeters.WIRE_BYTES.getBaseUnit())
        .tags(MeterTag.TRANSPORT.asString(), transport, MeterTag.DIRECTION.asString(), direction).register(registry));
  }

  /// A client has connected.
  public void connected(String transport) {
    known(connects, transport).increment();
  }

  /// A connection ended.
  ///
  /// @param reason one of [#REASONS]
  public void disconnected(String transport, String reason) {
    known(disconnects, List.of(transport, reason)).increment();
  }

  /// A bound ended a connection.
  public void refused(String bound) {
    known(refused, bound).increment();
  }

  private static <K> Counter known(Map<K, Counter> counters, K word) {
    Counter counter = counters.get(word);
    if (counter == null) {
      throw new IllegalArgumentException("word must be one of " + counters.keySet() + " (was " + word + ")");
    }
    return counter;
  }
}
