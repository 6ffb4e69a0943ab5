package io.penstock.wire.transport.tcp;

import static java.util.Objects.requireNonNull;

import io.netty.channel.unix.DomainSocketAddress;
import io.penstock.wire.security.ServerTls;
import io.penstock.wire.transport.CongestionControl;
import io.penstock.wire.transport.ConnectionLimits;
import io.penstock.wire.transport.ConnectionSlots;
import io.penstock.wire.transport.Endpoint;
import io.penstock.wire.transport.ReceiveLimits;
import io.penstock.wire.transport.SocketTuning;
import java.net.SocketAddress;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/// Address of a server, and the limits of it and its connections.
///
/// @param local an internet address (port 0 takes a free one) or a Unix domain socket
/// @param backlog connections the kernel may hold before they are accepted
/// @param slots maximum numbers of connections; a further one gets an error and is closed
/// @param receive bounds of unfinished frames
/// @param tuning of its sockets
/// @param tls of all connections; null for none. A Unix domain socket has none in any case
public record TcpServerOptions(SocketAddress local, int backlog, ConnectionSlots slots, ReceiveLimits receive,
    ConnectionLimits limits, SocketTuning tuning, @Nullable ServerTls tls) {
  public TcpServerOptions {
    requireNonNull(local, "local");
    requireNonNull(slots, "slots");
    requireNonNull(limits, "limits");
    requireNonNull(tuning, "tuning");
    receive.requireRoomFor(limits.maxFrameBytes());
    ConnectionLimits.within("backlog", backlog, 1, 1 << 16);
  }

  /// A backlog of 1,024, default slots and limits.
  public static TcpServerOptions on(String host, int port) {
    return on(Endpoint.internet(host, port));
  }

  /// A backlog of 1,024, default slots and limits.
  public static TcpServerOptions on(SocketAddress local) {
    return new TcpServerOptions(local, 1_024, ConnectionSlots.defaults(), ReceiveLimits.defaults(),
        ConnectionLimits.defaults(), SocketTuning.defaults(), null);
  }

  /// A Unix domain socket on this host; needs Netty's native transport.
  public static TcpServerOptions on(Path socket) {
    return on(new DomainSocketAddress(socket.toString()));
  }

  public TcpServerOptions withSlots(ConnectionSlots slots) {
    return new TcpServerOptions(local, backlog, slots, receive, limits, tuning, tls);
  }

  public TcpServerOptions withReceive(ReceiveLimits receive) {
    return new TcpServerOptions(local, backlog, slots, receive, limits, tuning, tls);
  }

  public TcpServerOptions withLimits(ConnectionLimits limits) {
    return new TcpServerOptions(local, backlog, slots, receive, limits, tuning, tls);
  }

  public TcpServerOptions withLocal(SocketAddress local) {
    return new TcpServerOptions(local, backlog, slots, receive, limits, tuning, tls);
  }

  public TcpServerOptions withTuning(SocketTuning tuning) {
    return new TcpServerOptions(local, backlog, slots, receive, limits, tuning, tls);
  }

  public TcpServerOptions withCongestion(CongestionControl congestion) {
    return withTuning(tuning.withCongestion(congestion));
  }

  /// Connections with TLS and no others.
  public TcpServerOptions withTls(ServerTls tls) {
    return new TcpServerOptions(local, backlog, slots, receive, limits, tuning, tls);
  }
}
