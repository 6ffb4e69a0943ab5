package io.penstock.examples.spring;

import io.penstock.wire.report.StreamListener;
import io.penstock.wire.trace.TraceContext;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Logs each get and put at the node with the trace that it belongs to, and reports it to the meters.
record StreamLog(StreamListener meters) implements StreamListener {
  private static final Logger LOG = LoggerFactory.getLogger(StreamLog.class);

  @Override
  public void ended(Report stream) {
    meters.ended(stream);
    TraceContext trace = stream.trace();
    LOG.info("{} of {} bytes, trace {}", stream.route(), stream.bytes(), trace == null ? "none" : trace.traceparent());
  }

  @Override
  public void requestRefused() {
    meters.requestRefused();
  }

  @Override
  public void bytesDelayed(long nanos) {
    meters.bytesDelayed(nanos);
  }
}
