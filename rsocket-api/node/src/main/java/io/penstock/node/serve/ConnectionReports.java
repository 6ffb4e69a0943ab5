package io.penstock.node.serve;

import static java.util.Objects.requireNonNull;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.micrometer.core.instrument.MeterRegistry;
import io.penstock.KvException;
import io.penstock.meter.WireMeters;
import io.penstock.node.text.Reason;
import io.penstock.wire.transport.ConnectionGauges;
import io.penstock.wire.transport.ConnectionListener;
import io.penstock.wire.transport.Refusal;
import io.penstock.wire.transport.TransportFailure.RefusedPeerException;
import io.penstock.wire.transport.TransportKind;
import java.io.IOException;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/// Says of each connection that did not end in order why, in one line, and counts connections and their bytes.
final class ConnectionReports implements ConnectionListener {
  private static final Logger LOG = LoggerFactory.getLogger(ConnectionReports.class);

  private final WireMeters meters;
  private final Map<TransportKind, Moved> moved = new EnumMap<>(TransportKind.class);

  ConnectionReports(MeterRegistry registry) {
    List<TransportKind> kinds = List.of(TransportKind.TCP, TransportKind.UDS, TransportKind.WS);
    meters = new WireMeters(registry, Arrays.stream(Refusal.values()).map(Refusal::code).toList(),
        kinds.stream().map(TransportKind::word).toList());
    kinds.forEach(kind -> {
      Moved of = new Moved();
      moved.put(kind, of);
      meters.bytes(kind.word(), of::in, of::out);
    });
  }

  /// Bytes that the connections of one transport have moved.
  private static final class Moved {
    @GuardedBy("this") private final Set<ConnectionGauges> open = new HashSet<>();
    @GuardedBy("this") private long endedIn;
    @GuardedBy("this") private long endedOut;

    synchronized void opened(ConnectionGauges connection) {
      open.add(connection);
    }

    synchronized void closed(ConnectionGauges connection) {
      if (open.remove(connection)) {
        endedIn += connection.readBytes();
        endedOut += connection.writtenBytes();
      }
    }

    synchronized long in() {
      return endedIn + open.stream().mapToLong(ConnectionGauges::readBytes).sum();
    }

    synchronized long out() {
      return endedOut + open.stream().mapToLong(ConnectionGauges::writtenBytes).sum();
    }
  }

  private Moved moved(ConnectionGauges connection) {
    return requireNonNull(moved.get(connection.transport()), "a transport of nodes");
  }

  @Override
  public void opened(ConnectionGauges connection) {
    moved(connection).opened(connection);
    meters.connected(connection.transport().word());
  }

  @Override
  public void closed(ConnectionGauges connection, @Nullable Throwable cause) {
    moved(connection).closed(connection);
    meters.disconnected(connection.transport().word(), kind(cause));
    if (cause instanceof RefusedPeerException refused) {
      meters.refused(refused.reason().code());
    }
    if (cause != null) { // a client that is gone is none of the node's trouble
      LOG.atLevel(cause instanceof IOException ? Level.INFO : Level.WARN)
          .log("connection of {} ended: {}", connection.peer(), reason(cause));
    }
  }

  private static String kind(@Nullable Throwable cause) {
    return switch (cause) {
      case null -> "closed";
      case RefusedPeerException refused -> "refused";
      case IOException lost -> "lost";
      default -> "failed";
    };
  }

  private static String reason(Throwable cause) {
    return cause instanceof RuntimeException && !(cause instanceof KvException)
        ? "a frame could not be read (" + cause.getClass().getSimpleName() + ")"
        : Reason.of(cause);
  }
}
