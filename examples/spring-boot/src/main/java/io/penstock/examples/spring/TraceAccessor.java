package io.penstock.examples.spring;

import io.micrometer.context.ThreadLocalAccessor;
import io.micrometer.tracing.Span;
import io.micrometer.tracing.Tracer;
import io.penstock.wire.trace.TraceContext;

/// Passes the span of an HTTP request to Penstock, which looks for a trace in the Reactor context: `contextCapture()`
/// of a get or put calls this.
final class TraceAccessor implements ThreadLocalAccessor<TraceContext> {
  private final Tracer tracer;

  TraceAccessor(Tracer tracer) {
    this.tracer = tracer;
  }

  @Override
  public Object key() {
    return TraceContext.class;
  }

  @Override
  public TraceContext getValue() {
    Span span = tracer.currentSpan();
    return span == null
        ? null
        : TraceContext.parse("00-%s-%s-%s".formatted(span.context().traceId(), span.context().spanId(),
            Boolean.TRUE.equals(span.context().sampled()) ? "01" : "00")).orElse(null);
  }

  @Override
  public void setValue(TraceContext value) {
    // the span is the thread's, and the tracer restores it
  }

  @Override
  public void setValue() {
    // nothing was set
  }
}
