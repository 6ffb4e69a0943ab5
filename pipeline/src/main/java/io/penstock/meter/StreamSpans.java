package io.penstock.meter;

import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationRegistry;
import io.micrometer.observation.transport.Kind;
import io.micrometer.observation.transport.ReceiverContext;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// Observations of the streams of slices of a node, named `penstock.stream`. With the handlers of a tracing library in
/// the registry each is a span that goes on with the trace of its client, by its `traceparent`.
public final class StreamSpans {
  private static final String NAME = "penstock.stream";
  private static final String TRACEPARENT = "traceparent";

  private final ObservationRegistry registry;

  public StreamSpans(ObservationRegistry registry) {
    this.registry = registry;
  }

  /// The observation of one stream.
  @FunctionalInterface
  public interface Span {
    /// @param carrier that carried most of the bytes
    /// @param failure a word of an enum; null if it did not fail
    void end(String carrier, long bytes, @Nullable String failure);
  }

  /// A stream begins.
  ///
  /// @param route a word of the protocol
  /// @param traceparent of its client; null for none
  public Span begin(String route, @Nullable String traceparent) {
    ReceiverContext<Map<String, String>> context =
        new ReceiverContext<>((carrier, key) -> carrier.get(key), Kind.SERVER);
    context.setCarrier(traceparent == null ? Map.of() : Map.of(TRACEPARENT, traceparent));
    Observation observation = Observation.start(NAME, () -> context, registry)
        .contextualName(NAME + "." + route).lowCardinalityKeyValue(MeterTag.ROUTE.asString(), route);
    return (carrier, bytes, failure) -> {
      observation.lowCardinalityKeyValue(MeterTag.CARRIER.asString(), carrier)
          .lowCardinalityKeyValue(MeterTag.CODE.asString(), failure == null ? "none" : failure)
          .highCardinalityKeyValue("bytes", Long.toString(bytes));
      observation.stop();
    };
  }
}
