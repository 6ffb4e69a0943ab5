package io.penstock.wire.transport.tcp;

import io.netty.channel.Channel;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.socket.ServerSocketChannel;
import io.netty.channel.socket.SocketProtocolFamily;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import java.net.Inet4Address;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.channels.spi.SelectorProvider;
import java.time.Duration;
import reactor.core.publisher.Mono;
import reactor.netty.resources.LoopResources;

/// Meaning of a wildcard at which a server listens: `0.0.0.0` is IPv4 alone, `::` is IPv6 and IPv4.
///
/// The JVM and Netty open IPv6 sockets where the system supports IPv6, and such a socket listens at `::` when it is
/// bound to `0.0.0.0`. So a server at `0.0.0.0` gets an IPv4 socket. The class of the socket is looked up at run time,
/// because Netty's transport for Linux is not on every class path. Netty's transport for macOS has no IPv4 sockets:
/// there, `0.0.0.0` means `::`.
public final class WildcardAddress {
  private WildcardAddress() {}

  /// `loops` for a server at `local`.
  public static LoopResources listening(LoopResources loops, SocketAddress local) {
    return local instanceof InetSocketAddress internet && internet.getAddress() instanceof Inet4Address ip
        && ip.isAnyLocalAddress() ? new OfIpv4(loops) : loops;
  }

  /// Opens sockets of IPv4 on the loops of others.
  private record OfIpv4(LoopResources loops) implements LoopResources {
    @Override
    public <C extends Channel> C onChannel(Class<C> type, EventLoopGroup group) {
      if (!type.equals(ServerSocketChannel.class)) {
        return loops.onChannel(type, group);
      }
      Class<? extends C> chosen = loops.onChannelClass(type, group);
      try {
        return chosen.equals(NioServerSocketChannel.class)
            ? type.cast(new NioServerSocketChannel(SelectorProvider.provider(), SocketProtocolFamily.INET))
            : chosen.getConstructor(SocketProtocolFamily.class).newInstance(SocketProtocolFamily.INET);
      } catch (NoSuchMethodException e) {
        return loops.onChannel(type, group);
      } catch (ReflectiveOperationException e) {
        throw new IllegalStateException("a socket of IPv4 cannot be opened", e);
      }
    }

    @Override
    public <C extends Channel> Class<? extends C> onChannelClass(Class<C> type, EventLoopGroup group) {
      return loops.onChannelClass(type, group);
    }

    @Override
    public EventLoopGroup onServer(boolean useNative) {
      return loops.onServer(useNative);
    }

    @Override
    public EventLoopGroup onServerSelect(boolean useNative) {
      return loops.onServerSelect(useNative);
    }

    @Override
    public EventLoopGroup onClient(boolean useNative) {
      return loops.onClient(useNative);
    }

    @Override
    public boolean daemon() {
      return loops.daemon();
    }

    @Override
    public void dispose() {
      loops.dispose();
    }

    @Override
    public boolean isDisposed() {
      return loops.isDisposed();
    }

    @Override
    public Mono<Void> disposeLater(Duration quietPeriod, Duration timeout) {
      return loops.disposeLater(quietPeriod, timeout);
    }
  }
}
