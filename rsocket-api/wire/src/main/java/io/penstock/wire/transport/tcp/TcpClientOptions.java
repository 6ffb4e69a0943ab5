package io.penstock.wire.transport.tcp;

import static java.util.Objects.requireNonNull;

import io.netty.channel.unix.DomainSocketAddress;
import io.penstock.wire.security.ClientTls;
import io.penstock.wire.transport.CongestionControl;
import io.penstock.wire.transport.ConnectionLimits;
import io.penstock.wire.transport.Endpoint;
import io.penstock.wire.transport.NameResolver;
import io.penstock.wire.transport.SocketTuning;
import java.net.SocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/// Address of a client's node, and the limits of its connections.
///
/// @param remote an internet address (unresolved names are looked up without blocking) or a Unix domain socket
/// @param connectTimeout longest wait for the peer to accept, and again for the handshake of TLS
/// @param tuning of the socket
/// @param tls of its connections; null for none. A Unix domain socket has none in any case
/// @param names looks the name of `remote` up, at each connection
public record TcpClientOptions(SocketAddress remote, Duration connectTimeout, ConnectionLimits limits,
    SocketTuning tuning, @Nullable ClientTls tls, NameResolver names) {
  /// Default of the longest wait for a peer to accept.
  public static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(5);

  public TcpClientOptions {
    requireNonNull(remote, "remote");
    requireNonNull(connectTimeout, "connectTimeout");
    requireNonNull(limits, "limits");
    requireNonNull(tuning, "tuning");
    requireNonNull(names, "names");
    if (connectTimeout.toMillis() <= 0 || connectTimeout.toMillis() > Integer.MAX_VALUE) {
      throw new IllegalArgumentException("connectTimeout must be in [1 ms, 24 days] (was " + connectTimeout + ")");
    }
  }

  /// 5 s to connect, default limits.
  public static TcpClientOptions to(String host, int port) {
    return to(Endpoint.internet(host, port));
  }

  /// 5 s to connect, default limits.
  public static TcpClientOptions to(SocketAddress remote) {
    return new TcpClientOptions(remote, CONNECT_TIMEOUT, ConnectionLimits.defaults(), SocketTuning.defaults(), null,
        NameResolver.ofSystem());
  }

  /// A Unix domain socket on this host; needs Netty's native transport.
  public static TcpClientOptions to(Path socket) {
    return to(new DomainSocketAddress(socket.toString()));
  }

  public TcpClientOptions withRemote(SocketAddress remote) {
    return new TcpClientOptions(remote, connectTimeout, limits, tuning, tls, names);
  }

  public TcpClientOptions withConnectTimeout(Duration timeout) {
    return new TcpClientOptions(remote, timeout, limits, tuning, tls, names);
  }

  public TcpClientOptions withLimits(ConnectionLimits limits) {
    return new TcpClientOptions(remote, connectTimeout, limits, tuning, tls, names);
  }

  public TcpClientOptions withTuning(SocketTuning tuning) {
    return new TcpClientOptions(remote, connectTimeout, limits, tuning, tls, names);
  }

  public TcpClientOptions withCongestion(CongestionControl congestion) {
    return withTuning(tuning.withCongestion(congestion));
  }

  /// Connections with TLS.
  public TcpClientOptions withTls(ClientTls tls) {
    return new TcpClientOptions(remote, connectTimeout, limits, tuning, tls, names);
  }

  /// Names that `names` looks up.
  public TcpClientOptions withNames(NameResolver names) {
    return new TcpClientOptions(remote, connectTimeout, limits, tuning, tls, names);
  }
}
