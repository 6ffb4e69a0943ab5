package io.penstock.lab.bench.side;

import static java.util.Objects.requireNonNull;

import io.netty.channel.unix.DomainSocketAddress;
import io.penstock.block.SlabArena.ChunkSource;
import io.penstock.wire.protocol.Carrier;
import io.penstock.wire.transport.CongestionControl;
import io.penstock.wire.transport.ConnectionLimits;
import io.penstock.wire.transport.ConnectionListener;
import io.penstock.wire.transport.Endpoint;
import io.penstock.wire.transport.NameResolver;
import io.penstock.wire.transport.SocketTuning;
import io.penstock.wire.transport.local.LocalTransport;
import io.penstock.wire.transport.tcp.LoopbackPath;
import io.penstock.wire.transport.tcp.ServerBounds;
import io.penstock.wire.transport.tcp.TcpClientOptions;
import io.penstock.wire.transport.tcp.TcpListener;
import io.penstock.wire.transport.tcp.TcpServerOptions;
import io.penstock.wire.transport.tcp.TcpTransport;
import io.penstock.wire.transport.tcp.WildcardAddress;
import io.rsocket.Closeable;
import io.rsocket.transport.ClientTransport;
import io.rsocket.transport.ServerTransport;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.file.Path;
import java.util.Set;
import reactor.netty.resources.ConnectionProvider;
import reactor.netty.resources.LoopResources;
import reactor.netty.tcp.TcpClient;
import reactor.netty.tcp.TcpServer;

/// The transports that can be measured. They differ in the place where a side listens and in the form of its address.
public enum BenchTransport {
  TCP,
  UDS,
  /// WebSocket over TCP.
  WS,
  /// Within one process, which is both sides then.
  LOCAL,
  /// A Unix domain socket for all but the bytes of blocks and segments: each side reads these in the memory of the
  /// other.
  SHARED;

  /// Where the far side listens.
  ///
  /// @param host for internet addresses
  /// @param folder for sockets that are files
  record Place(String host, Path folder) {}

  /// The sockets below it, which can be measured without RSocket.
  BenchTransport bare() {
    return this == UDS || this == SHARED ? UDS : TCP;
  }

  /// @param name different from the names of the other listeners in `place`
  SocketAddress local(Place place, String name) {
    return bare() == UDS
        ? new DomainSocketAddress(place.folder().resolve(name).toString())
        : Endpoint.internet(place.host(), 0);
  }

  /// `address` for the peer: a port, or the path of a socket.
  static String told(SocketAddress address) {
    return address instanceof InetSocketAddress internet ? "" + internet.getPort() : address.toString();
  }

  /// Address of `listening`, for the peer.
  ///
  /// @param name under which it was made
  public static String told(Closeable listening, String name) {
    return listening instanceof TcpListener socket ? told(socket.address()) : name;
  }

  /// Address that the peer on `host` reported.
  SocketAddress remote(String host, String told) {
    return bare() == UDS
        ? new DomainSocketAddress(told)
        : Endpoint.internet(host, Integer.parseInt(told));
  }

  /// Memory of blocks and segments at either side.
  ChunkSource chunks() {
    return this == SHARED ? ChunkSource.shared("bench") : ChunkSource.ofSystem();
  }

  /// Carrier of the bytes of blocks and segments.
  Carrier carrier() {
    return this == SHARED ? Carrier.SHARED_MEMORY : Carrier.INLINE;
  }

  /// A server of its own.
  ///
  /// @param name different from the names of the other listeners in `place`
  ServerTransport<? extends Closeable> server(Place place, String name, SocketTuning tuning,
      LoopResources loops) {
    TcpServerOptions options = TcpServerOptions.on(local(place, name)).withTuning(tuning);
    return switch (this) {
      case LOCAL -> LocalTransport.server(name, ConnectionLimits.defaults(), loops, ConnectionListener.noop());
      case WS -> (ServerTransport<TcpListener>) acceptor -> TcpTransport
          .bindWebSocket(options, Set.of(), ServerBounds.of(options), loops, ConnectionListener.noop())
          .flatMap(bound -> bound.start(requireNonNull(acceptor)));
      default -> TcpTransport.server(options, loops);
    };
  }

  /// A server of TCP for this process alone, at a free port.
  public static ServerTransport<? extends Closeable> loopbackServer(LoopResources loops) {
    return TcpTransport.server(TcpServerOptions.on("127.0.0.1", 0), loops);
  }

  /// A client of the address that the peer on `host` reported.
  public ClientTransport client(String host, String told, SocketTuning tuning, LoopResources loops) {
    if (this == LOCAL) {
      return LocalTransport.client(told, ConnectionLimits.defaults(), loops, ConnectionListener.noop());
    }
    TcpClientOptions options = TcpClientOptions.to(remote(host, told)).withTuning(tuning);
    return this == WS
        ? TcpTransport.webSocketClient(options, loops, ConnectionListener.noop())
        : TcpTransport.client(options, loops);
  }

  /// A server socket without RSocket.
  static TcpServer rawServer(SocketAddress local, CongestionControl congestion, LoopResources loops) {
    return LoopbackPath.listening(
        TcpServer.create().runOn(WildcardAddress.listening(loops, local)).bindAddress(() -> local), local, loops,
        congestion);
  }

  static TcpClient rawClient(SocketAddress remote, CongestionControl congestion, LoopResources loops) {
    TcpClient tcp = TcpClient.create(ConnectionProvider.newConnection()).runOn(loops).remoteAddress(() -> remote);
    return LoopbackPath.connecting(
        remote instanceof InetSocketAddress ? tcp.resolver(NameResolver.ofSystem()) : tcp, remote, loops, congestion);
  }
}
