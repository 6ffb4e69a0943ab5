package io.penstock.wire;

import io.penstock.block.SlabArena.ChunkSource;
import io.penstock.wire.protocol.Carrier;
import io.penstock.wire.server.KvServer;
import io.penstock.wire.transport.ConnectionSlots;
import io.penstock.wire.transport.ReceiveLimits;
import io.penstock.wire.transport.tcp.TcpServerOptions;
import io.rsocket.Closeable;
import io.rsocket.transport.ClientTransport;
import io.rsocket.transport.ServerTransport;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.time.Duration;

/// How a node and its clients reach one another in a test: a place is a number on every transport.
public interface LinkEnds {
  Duration PATIENCE = Duration.ofSeconds(60);

  /// @param port 0 for any
  ServerTransport<? extends Closeable> server(int port);

  int port(KvServer server);

  ClientTransport client(int port);

  /// Where a listener of the test itself binds: port 0 of the loopback interface, or a place that is free.
  default SocketAddress free() {
    return address(0);
  }

  /// The number of a listener that is bound at `address`.
  default int port(SocketAddress address) {
    return ((InetSocketAddress) address).getPort();
  }

  default SocketAddress address(int port) {
    return new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
  }

  /// `options` of a server that no busy machine brings to a limit of its sockets.
  static TcpServerOptions patient(TcpServerOptions options) {
    return options.withSlots(ConnectionSlots.defaults().withTimeToSetup(PATIENCE))
        .withReceive(ReceiveLimits.defaults().withFrameTime(PATIENCE));
  }

  /// What carries bytes of segments.
  default Carrier carrier() {
    return Carrier.INLINE;
  }

  /// Memory of the blocks at both ends.
  default ChunkSource chunks() {
    return ChunkSource.ofSystem();
  }
}
