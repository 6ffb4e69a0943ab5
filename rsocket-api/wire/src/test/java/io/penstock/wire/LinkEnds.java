package io.penstock.wire;

import io.penstock.block.SlabArena.ChunkSource;
import io.rsocket.Closeable;
import io.rsocket.transport.ClientTransport;
import io.rsocket.transport.ServerTransport;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;

/// How a node and its clients reach one another in a test: a place is a number on every transport.
interface LinkEnds {
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

  /// Memory of the blocks at both ends.
  default ChunkSource chunks() {
    return ChunkSource.ofJdk();
  }
}
