package io.penstock.lab.simulate;

import io.netty.buffer.ByteBufAllocator;
import io.penstock.wire.simulate.LinkEvent;
import io.penstock.wire.simulate.SimulatedLink;
import io.penstock.wire.simulate.SimulatedTime;
import io.rsocket.Closeable;
import io.rsocket.transport.ClientTransport;
import io.rsocket.transport.ServerTransport;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/// The links between the node and its clients, with a tap at every end.
final class SimulatedNetwork {
  /// One connection that was made.
  ///
  /// @param number counts all attempts to connect, as faults do
  /// @param client name of the client
  record Connection(int number, String client, Traffic up, Traffic down) {}

  private final SimulatedLink link;
  private final List<Connection> connections = new ArrayList<>();
  private int attempts;
  private @Nullable Connection connecting;

  SimulatedNetwork(SimulatedTime time, ByteBufAllocator allocator, Scenario.FaultPlan faults, Verdict verdict) {
    this.link = new SimulatedLink(time, "link", allocator, faults::of, event -> note(event, verdict));
  }

  private static void note(LinkEvent event, Verdict verdict) {
    verdict.note(event.nanos() ^ ((long) event.connection() << 48),
        ((long) event.crc32c() << 32) ^ event.bytes() ^ event.direction().ordinal());
  }

  ServerTransport<Closeable> server() {
    ServerTransport<Closeable> server = link.server();
    return acceptor -> server.start(end -> {
      Connection connection = new Connection(0, "", new Traffic(), new Traffic());
      connecting = connection;
      return acceptor.apply(new Traffic.Tap(end, connection.down(), connection.up()));
    });
  }

  ClientTransport client(String name) {
    ClientTransport client = link.client();
    return () -> Mono.defer(() -> {
      int number = attempts++;
      return client.connect().map(end -> {
        Connection made = connecting; // the server's end is told first, in the same task
        if (made == null) {
          throw new IllegalStateException("a server must have accepted (was none)");
        }
        connecting = null;
        connections.add(new Connection(number, name, made.up(), made.down()));
        return new Traffic.Tap(end, made.up(), made.down());
      });
    });
  }

  /// Every connection that was ever made.
  List<Connection> connections() {
    return connections;
  }
}
