package io.penstock.node.bench;

import io.netty.channel.unix.DomainSocketAddress;
import io.penstock.block.SlabArena.ChunkSource;
import io.penstock.wire.Carrier;
import io.penstock.wire.transport.CongestionControl;
import io.penstock.wire.transport.LoopbackPath;
import io.penstock.wire.transport.TcpClientOptions;
import io.penstock.wire.transport.TcpListener;
import io.penstock.wire.transport.TcpServerOptions;
import io.penstock.wire.transport.TcpTransport;
import io.rsocket.transport.ClientTransport;
import io.rsocket.transport.ServerTransport;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.file.Path;
import java.util.function.BiFunction;
import reactor.netty.resources.ConnectionProvider;
import reactor.netty.resources.LoopResources;
import reactor.netty.tcp.TcpClient;
import reactor.netty.tcp.TcpServer;

/// The transports that can be measured. What differs is where a side listens and how its peer is told.
enum BenchTransport {
  TCP((place, name) -> new InetSocketAddress(place.host(), 0)),
  UDS((place, name) -> new DomainSocketAddress(place.folder().resolve(name).toString())),
  /// A Unix domain socket for all but the bytes of blocks: each side reads them in the memory of the other.
  SHARED(UDS.local);

  /// Where the far side listens.
  ///
  /// @param host for internet addresses
  /// @param folder for sockets that are files
  record Place(String host, Path folder) {}

  private final BiFunction<Place, String, SocketAddress> local;

  BenchTransport(BiFunction<Place, String, SocketAddress> local) {
    this.local = local;
  }

  /// @param name unlike those of the other listeners in `place`
  SocketAddress local(Place place, String name) {
    return local.apply(place, name);
  }

  /// `address` for the peer: a port, or the path of a socket.
  static String told(SocketAddress address) {
    return address instanceof InetSocketAddress internet ? "" + internet.getPort() : address.toString();
  }

  /// What the peer on `host` told.
  SocketAddress remote(String host, String told) {
    return this != TCP
        ? new DomainSocketAddress(told)
        : InetSocketAddress.createUnresolved(host, Integer.parseInt(told));
  }

  /// Memory of the blocks at either side.
  ChunkSource chunks() {
    return this == SHARED ? ChunkSource.shared("bench") : ChunkSource.ofJdk();
  }

  /// What carries the bytes of blocks.
  Carrier carrier() {
    return this == SHARED ? Carrier.SHARED_MEMORY : Carrier.INLINE;
  }

  static ServerTransport<TcpListener> server(SocketAddress local, CongestionControl congestion, LoopResources loops) {
    return TcpTransport.server(TcpServerOptions.on(local).withCongestion(congestion), loops);
  }

  static ClientTransport client(SocketAddress remote, CongestionControl congestion, LoopResources loops) {
    return TcpTransport.client(TcpClientOptions.to(remote).withCongestion(congestion), loops);
  }

  /// The same socket without RSocket.
  static TcpServer rawServer(SocketAddress local, CongestionControl congestion, LoopResources loops) {
    return LoopbackPath.listening(TcpServer.create().runOn(loops).bindAddress(() -> local), local, loops, congestion);
  }

  static TcpClient rawClient(SocketAddress remote, CongestionControl congestion, LoopResources loops) {
    return LoopbackPath.connecting(
        TcpClient.create(ConnectionProvider.newConnection()).runOn(loops).remoteAddress(() -> remote), remote, loops,
        congestion);
  }
}
