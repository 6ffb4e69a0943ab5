package io.penstock.node.serve;

import io.penstock.KvException;
import io.penstock.node.text.Reason;
import io.penstock.wire.transport.ConnectionGauges;
import io.penstock.wire.transport.ConnectionListener;
import java.io.IOException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/// Reports the connections of a node to its meters, and logs one line about each that did not end in order.
final class ConnectionReports implements ConnectionListener {
  private static final Logger LOG = LoggerFactory.getLogger(ConnectionReports.class);

  private final ConnectionListener meters;

  ConnectionReports(ConnectionListener meters) {
    this.meters = meters;
  }

  @Override
  public void opened(ConnectionGauges connection) {
    meters.opened(connection);
  }

  @Override
  public void closed(ConnectionGauges connection, @Nullable Throwable cause) {
    meters.closed(connection, cause);
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
