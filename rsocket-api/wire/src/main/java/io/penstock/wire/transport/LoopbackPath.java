package io.penstock.wire.transport;

import io.netty.channel.ChannelOption;
import io.netty.channel.socket.ServerSocketChannel;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.unix.RawUnixChannelOption;
import io.netty.util.NetUtil;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
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
  private static final byte[] PLAIN = "reno".getBytes(StandardCharsets.US_ASCII);
  private static final int IPPROTO_TCP = 6;
  private static final int TCP_CONGESTION = 13;
  static final ChannelOption<ByteBuffer> CONGESTION_CONTROL =
      new RawUnixChannelOption("TCP_CONGESTION", IPPROTO_TCP, TCP_CONGESTION, PLAIN.length);

  private LoopbackPath() {}

  /// `client` for connecting to `remote` by `loops`; each connection needs one of its own.
  public static TcpClient connecting(TcpClient client, SocketAddress remote, LoopResources loops) {
    return isLoopback(remote)
        && isEpoll(loops.onChannelClass(SocketChannel.class, loops.onClient(LoopResources.DEFAULT_NATIVE)))
            ? client.option(CONGESTION_CONTROL, ByteBuffer.wrap(PLAIN))
            : client;
  }

  /// `server` for listening on `local` by `loops`; what it accepts inherits.
  public static TcpServer listening(TcpServer server, SocketAddress local, LoopResources loops) {
    return isLoopback(local)
        && isEpoll(loops.onChannelClass(ServerSocketChannel.class, loops.onServer(LoopResources.DEFAULT_NATIVE)))
            ? server.option(CONGESTION_CONTROL, ByteBuffer.wrap(PLAIN))
            : server;
  }

  /// By name: a consumer may leave the native transport out.
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
