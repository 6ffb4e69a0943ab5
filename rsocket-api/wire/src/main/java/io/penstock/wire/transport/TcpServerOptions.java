package io.penstock.wire.transport;

import static java.util.Objects.requireNonNull;

import io.netty.channel.unix.DomainSocketAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.file.Path;

/// Where a server listens, and the numbers it and its connections keep to.
///
/// @param local an internet address (port 0 takes a free one) or a Unix domain socket
/// @param backlog connections the kernel may hold before they are accepted
/// @param maxConnections most open connections; one more is told so and closed
public record TcpServerOptions(SocketAddress local, int backlog, int maxConnections, ConnectionLimits limits) {
  public TcpServerOptions {
    requireNonNull(local, "local");
    requireNonNull(limits, "limits");
    ConnectionLimits.within("backlog", backlog, 1, 1 << 16);
    ConnectionLimits.within("maxConnections", maxConnections, 1, 1 << 20);
  }

  /// A backlog of 1,024, up to 4,096 connections, default limits.
  public static TcpServerOptions on(String host, int port) {
    return on(new InetSocketAddress(host, port));
  }

  /// A backlog of 1,024, up to 4,096 connections, default limits.
  public static TcpServerOptions on(SocketAddress local) {
    return new TcpServerOptions(local, 1_024, 4_096, ConnectionLimits.defaults());
  }

  /// A Unix domain socket on this host; needs Netty's native transport.
  public static TcpServerOptions on(Path socket) {
    return on(new DomainSocketAddress(socket.toString()));
  }

  public TcpServerOptions withMaxConnections(int connections) {
    return new TcpServerOptions(local, backlog, connections, limits);
  }

  public TcpServerOptions withLimits(ConnectionLimits limits) {
    return new TcpServerOptions(local, backlog, maxConnections, limits);
  }
}
