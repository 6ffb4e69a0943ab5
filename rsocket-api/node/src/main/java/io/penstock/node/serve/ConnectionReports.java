package io.penstock.node.serve;

import io.micrometer.core.instrument.MeterRegistry;
import io.penstock.KvException;
import io.penstock.meter.WireMeters;
import io.penstock.node.cli.Reason;
import io.penstock.wire.transport.ConnectionGauges;
import io.penstock.wire.transport.ConnectionListener;
import io.penstock.wire.transport.Refusal;
import io.penstock.wire.transport.RefusedPeerException;
import java.io.IOException;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/// Says of each connection that did not end in order why, in one line, and counts those that a bound ended.
final class ConnectionReports implements ConnectionListener {
  private static final Logger LOG = LoggerFactory.getLogger(ConnectionReports.class);

  private final WireMeters meters;

  ConnectionReports(MeterRegistry registry) {
    meters = new WireMeters(registry, Arrays.stream(Refusal.values()).map(Refusal::code).toList());
  }

  @Override
  public void closed(ConnectionGauges connection, @Nullable Throwable cause) {
    if (cause instanceof RefusedPeerException refused) {
      meters.refused(refused.reason().code());
    }
    if (cause != null) { // a client that is gone is none of the node's trouble
      LOG.atLevel(cause instanceof IOException ? Level.INFO : Level.WARN)
          .log("connection of {} ended: {}", connection.peer(), reason(cause));
    }
  }

  private static String reason(Throwable cause) {
    return cause instanceof RuntimeException && !(cause instanceof KvException)
        ? "a frame could not be read (" + cause.getClass().getSimpleName() + ")"
        : Reason.of(cause);
  }
}
