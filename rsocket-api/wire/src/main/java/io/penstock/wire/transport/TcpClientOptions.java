package io.penstock.wire.transport;

import static java.util.Objects.requireNonNull;

import io.netty.channel.unix.DomainSocketAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.file.Path;
import java.time.Duration;

/// Where a client connects, and the numbers its connections keep to.
///
/// @param remote an internet address (unresolved names are looked up without blocking) or a Unix domain socket
/// @param connectTimeout longest wait for the peer to accept
/// @param congestion how its sockets react to congestion
public record TcpClientOptions(SocketAddress remote, Duration connectTimeout, CongestionControl congestion,
    ConnectionLimits limits) {
  public TcpClientOptions {
    requireNonNull(remote, "remote");
    requireNonNull(connectTimeout, "connectTimeout");
    requireNonNull(congestion, "congestion");
    requireNonNull(limits, "limits");
    if (connectTimeout.toMillis() <= 0 || connectTimeout.toMillis() > Integer.MAX_VALUE) {
      throw new IllegalArgumentException("connectTimeout must be in [1 ms, 24 days] (was " + connectTimeout + ")");
    }
  }

  /// 10 s to connect, default limits.
  public static TcpClientOptions to(String host, int port) {
    return to(InetSocketAddress.createUnresolved(host, port));
  }

  /// 10 s to connect, default limits.
  public static TcpClientOptions to(SocketAddress remote) {
    return new TcpClientOptions(remote, Duration.ofSeconds(10), CongestionControl.AUTOMATIC,
        ConnectionLimits.defaults());
  }

  /// A Unix domain socket on this host; needs Netty's native transport.
  public static TcpClientOptions to(Path socket) {
    return to(new DomainSocketAddress(socket.toString()));
  }

  public TcpClientOptions withConnectTimeout(Duration timeout) {
    return new TcpClientOptions(remote, timeout, congestion, limits);
  }

  public TcpClientOptions withLimits(ConnectionLimits limits) {
    return new TcpClientOptions(remote, connectTimeout, congestion, limits);
  }

  public TcpClientOptions withCongestion(CongestionControl congestion) {
    return new TcpClientOptions(remote, connectTimeout, congestion, limits);
  }
}
