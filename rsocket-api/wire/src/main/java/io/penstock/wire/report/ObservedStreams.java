package io.penstock.wire.report;

import static java.util.Objects.requireNonNull;

import io.penstock.meter.StreamSpans;
import io.penstock.wire.trace.TraceContext;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/// Shows the streams of a `KvServer` as observations, which go on with the traces of their clients.
public final class ObservedStreams implements StreamListener {
  private final StreamSpans spans;

  public ObservedStreams(StreamSpans spans) {
    this.spans = requireNonNull(spans, "spans");
  }

  @Override
  public StreamListener began(String route, @Nullable TraceContext trace) {
    StreamSpans.Span span = spans.begin(route, trace == null ? null : trace.traceparent());
    return report -> span.end(report.carrier().label(), report.bytes(),
        report.failure() == null ? null : report.failure().name().toLowerCase(Locale.ROOT));
  }

  @Override
  public void ended(Report report) {
    // that of the stream hears it
  }
}
