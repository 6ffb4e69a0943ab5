package io.penstock.wire.transport;

import static java.util.Objects.requireNonNull;

import io.netty.channel.unix.DomainSocketAddress;
import io.penstock.wire.security.ClientTls;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/// Where a client connects, and the numbers its connections keep to.
///
/// @param remote an internet address (unresolved names are looked up without blocking) or a Unix domain socket
/// @param connectTimeout longest wait for the peer to accept, and again for the handshake of TLS
/// @param tls of its connections; null for none
public record TcpClientOptions(SocketAddress remote, Duration connectTimeout, ConnectionLimits limits,
    @Nullable ClientTls tls) {
  public TcpClientOptions {
    requireNonNull(remote, "remote");
    requireNonNull(connectTimeout, "connectTimeout");
    requireNonNull(limits, "limits");
    if (tls != null && !(remote instanceof InetSocketAddress)) {
      throw new IllegalArgumentException("remote must be an internet address with TLS (was " + remote + ")");
    }
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
    return new TcpClientOptions(remote, Duration.ofSeconds(10), ConnectionLimits.defaults(), null);
  }

  /// A Unix domain socket on this host; needs Netty's native transport.
  public static TcpClientOptions to(Path socket) {
    return to(new DomainSocketAddress(socket.toString()));
  }

  public TcpClientOptions withConnectTimeout(Duration timeout) {
    return new TcpClientOptions(remote, timeout, limits, tls);
  }

  public TcpClientOptions withLimits(ConnectionLimits limits) {
    return new TcpClientOptions(remote, connectTimeout, limits, tls);
  }

  /// Connections with TLS to a server that has an internet address.
  public TcpClientOptions withTls(ClientTls tls) {
    return new TcpClientOptions(remote, connectTimeout, limits, tls);
  }
}
