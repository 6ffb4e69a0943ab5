package io.penstock.wire.trace;

import java.util.Optional;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import reactor.util.context.Context;
import reactor.util.context.ContextView;

/// Place of a request in a distributed trace, as W3C Trace Context writes it: version, trace, parent and flags.
///
/// A get or put of a client takes it from the Reactor context of its subscriber, under this class as the key; a batch
/// of transfers is given it. A request without one costs nothing.
public record TraceContext(String traceparent) {
  private static final Pattern FORM =
      Pattern.compile("(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}");

  public TraceContext {
    if (!FORM.matcher(traceparent).matches()) {
      throw new IllegalArgumentException(
          "traceparent must be like 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01 (was " + traceparent + ")");
    }
  }

  /// Trace context in `text`; empty if it is none.
  public static Optional<TraceContext> parse(String text) {
    return FORM.matcher(text).matches() ? Optional.of(new TraceContext(text)) : Optional.empty();
  }

  /// Trace context of a subscriber; null for none.
  public static @Nullable TraceContext of(ContextView context) {
    return context.getOrDefault(TraceContext.class, null);
  }

  /// `context` with this trace, for `contextWrite`.
  public Context in(Context context) {
    return context.put(TraceContext.class, this);
  }
}
