package io.penstock.wire.transport.tcp;

import io.netty.channel.Channel;
import io.netty.channel.socket.ServerSocketChannel;
import io.netty.channel.socket.SocketChannel;
import io.netty.util.NetUtil;
import io.penstock.wire.transport.CongestionControl;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import org.jspecify.annotations.Nullable;
import reactor.netty.resources.LoopResources;
import reactor.netty.tcp.TcpClient;
import reactor.netty.tcp.TcpServer;

/// Sockets whose two ends are on this host: no link lies between them that could be congested.
///
/// Where the system's congestion control paces (BBR), it measures a memory copy as if it were a link, holds bytes back
/// by timers, and drains the pipe every few seconds to measure again. Between loopback addresses such sockets ask Linux
/// for its plain window-based one, `reno`, which every kernel has and every user may choose; there is no loss to react
/// to. Other addresses, other transports and other systems keep what the system chose.
public final class LoopbackPath {
  private LoopbackPath() {}

  /// `client` for connecting to `remote` by `loops`; each connection needs one of its own.
  public static TcpClient connecting(TcpClient client, SocketAddress remote, LoopResources loops) {
    return connecting(client, remote, loops, CongestionControl.AUTOMATIC);
  }

  /// A server with a congestion control of the caller's choice.
  public static TcpClient connecting(TcpClient client, SocketAddress remote, LoopResources loops,
      CongestionControl control) {
    CongestionControl chosen = control.chosen(isLoopback(remote));
    return chosen != null && remote instanceof InetSocketAddress
        && isEpoll(loops.onChannelClass(SocketChannel.class, loops.onClient(LoopResources.DEFAULT_NATIVE)))
            ? client.option(chosen.option(), chosen.value())
            : client;
  }

  /// `server` for listening on `local` by `loops`; accepted connections inherit.
  public static TcpServer listening(TcpServer server, SocketAddress local, LoopResources loops) {
    return listening(server, local, loops, CongestionControl.AUTOMATIC);
  }

  /// A server with a congestion control of the caller's choice.
  public static TcpServer listening(TcpServer server, SocketAddress local, LoopResources loops,
      CongestionControl control) {
    CongestionControl chosen = control.chosen(isLoopback(local));
    return chosen != null && local instanceof InetSocketAddress
        && isEpoll(loops.onChannelClass(ServerSocketChannel.class, loops.onServer(LoopResources.DEFAULT_NATIVE)))
            ? server.option(chosen.option(), chosen.value())
            : server;
  }

  /// Control to set on a socket of Netty's own transport whose other end is `remote`; null to set none.
  public static @Nullable CongestionControl chosen(Channel socket, SocketAddress remote, CongestionControl control) {
    return remote instanceof InetSocketAddress && isEpoll(socket.getClass())
        ? control.chosen(isLoopback(remote))
        : null;
  }

  /// Whether sockets of a server on `loops` are of Netty's transport for Linux, which can choose.
  public static boolean canChoose(LoopResources loops) {
    return isEpoll(loops.onChannelClass(ServerSocketChannel.class, loops.onServer(LoopResources.DEFAULT_NATIVE)));
  }

  /// Compares by name, because a consumer may leave the native transport out.
  private static boolean isEpoll(Class<?> channel) {
    return channel.getPackageName().equals("io.netty.channel.epoll");
  }

  static boolean isLoopback(SocketAddress address) {
    if (!(address instanceof InetSocketAddress internet)) {
      return false;
    }
    InetAddress ip = internet.isUnresolved()
        ? NetUtil.createInetAddressFromIpAddressString(internet.getHostString())
        : internet.getAddress();
    return ip == null ? internet.getHostString().equals("localhost") : ip.isLoopbackAddress();
  }
}
