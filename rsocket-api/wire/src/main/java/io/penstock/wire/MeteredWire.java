package io.penstock.wire;

import static java.util.Objects.requireNonNull;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.meter.PenstockMeters;
import io.penstock.meter.StreamMeters;
import io.penstock.meter.WireMeters;
import io.penstock.wire.protocol.ErrorCode;
import io.penstock.wire.report.StreamListener;
import io.penstock.wire.server.KvServer;
import io.penstock.wire.transport.ConnectionGauges;
import io.penstock.wire.transport.ConnectionListener;
import io.penstock.wire.transport.Refusal;
import io.penstock.wire.transport.TransportFailure.RefusedPeerException;
import io.penstock.wire.transport.TransportKind;
import io.penstock.wire.transport.tcp.BoundTransports;
import io.penstock.wire.transport.tcp.TcpListener;
import io.rsocket.Closeable;
import java.io.IOException;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.HashSet;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// Shows the streams and the connections of a server by meters. One object listens to both: pass it to the options of
/// the server and to its transport, then [#show] the server.
///
/// A client that is alone in its process may use one in the same way. [PenstockNode.Options#withMeters] and
/// [PenstockClient.Options#withMeters] do all of this. Safe from any thread.
public final class MeteredWire implements StreamListener, ConnectionListener {
  private final PenstockMeters registry;
  private final StreamMeters streams;
  private final WireMeters connections;
  private final Map<TransportKind, Moved> moved = new EnumMap<>(TransportKind.class);

  /// @param meters that show it; make one object a process, for every meter exists from the start
  public MeteredWire(PenstockMeters meters) {
    registry = requireNonNull(meters, "meters");
    streams = meters.streams();
    connections = meters.connections(Arrays.stream(Refusal.values()).map(Refusal::code).toList(),
        Arrays.stream(TransportKind.values()).map(TransportKind::word).toList());
    for (TransportKind kind : TransportKind.values()) {
      Moved of = new Moved();
      moved.put(kind, of);
      connections.bytes(kind.word(), of::in, of::out);
    }
  }

  /// The registry of these meters, and of all others.
  PenstockMeters meters() {
    return registry;
  }

  /// Shows what `server` has open.
  public void show(KvServer server) {
    Closeable listening = server.listening();
    registry.bindServer(() -> switch (listening) {
      case BoundTransports.Listening all -> all.connections();
      case TcpListener one -> one.connections();
      default -> 0;
    }, server::runningStreams, () -> switch (listening) {
      case BoundTransports.Listening all -> all.frameBytes();
      case TcpListener one -> one.frameBytes();
      default -> 0;
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
    return requireNonNull(moved.get(connection.transport()), "a transport");
  }

  @Override
  public void opened(ConnectionGauges connection) {
    moved(connection).opened(connection);
    connections.connected(connection.transport().word());
  }

  @Override
  public void closed(ConnectionGauges connection, @Nullable Throwable cause) {
    moved(connection).closed(connection);
    connections.disconnected(connection.transport().word(), kind(cause));
    if (cause instanceof RefusedPeerException refused) {
      connections.refused(refused.reason().code());
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

  @Override
  public void ended(Report stream) {
    ErrorCode failure = stream.failure();
    streams.ended(stream.route(), stream.carrier().label(), stream.bytes(), stream.nanos(),
        stream.byCulprit(),
        failure == null ? null : failure.name().toLowerCase(Locale.ROOT).replace('_', '-'));
  }

  @Override
  public void requestRefused() {
    streams.requestRefused();
  }

  @Override
  public void bytesDelayed(long nanos) {
    streams.bytesDelayed(nanos);
  }
}
