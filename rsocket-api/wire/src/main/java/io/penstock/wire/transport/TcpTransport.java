package io.penstock.wire.transport;

import static java.util.Objects.requireNonNull;

import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.ChannelOption;
import io.netty.channel.unix.DomainSocketAddress;
import io.rsocket.DuplexConnection;
import io.rsocket.transport.ClientTransport;
import io.rsocket.transport.ServerTransport;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.netty.resources.ConnectionProvider;
import reactor.netty.resources.LoopResources;
import reactor.netty.tcp.TcpClient;
import reactor.netty.tcp.TcpServer;

/// RSocket over TCP or Unix domain sockets, made for frames of 64 KiB to 16 MiB.
///
/// Event loops, and whether they are native, come from the [LoopResources] given; they stay the giver's to dispose.
/// What is bounded by which number is said in `package-info`. RSocket's fragmentation is best left off; RSocket core
/// counts 9 bytes of headers into the longest frame, so a payload of a request or an item may have `maxFrameBytes - 9`
/// bytes, metadata and its length included.
public final class TcpTransport {
  private TcpTransport() {}

  /// A client of one address; each `connect` opens one connection and may be cancelled.
  public static ClientTransport client(TcpClientOptions options, LoopResources loops) {
    return client(options, loops, ConnectionListener.noop());
  }

  /// A client whose connections `listener` hears of.
  public static ClientTransport client(TcpClientOptions options, LoopResources loops, ConnectionListener listener) {
    return client(options, loops, listener, null);
  }

  /// A server on one address; `start` listens.
  public static ServerTransport<TcpListener> server(TcpServerOptions options, LoopResources loops) {
    return server(options, loops, ConnectionListener.noop());
  }

  /// A server whose connections `listener` hears of.
  public static ServerTransport<TcpListener> server(TcpServerOptions options, LoopResources loops,
      ConnectionListener listener) {
    return server(options, loops, listener, null);
  }

  static ClientTransport client(
      TcpClientOptions options, LoopResources loops, ConnectionListener listener, @Nullable ByteBufAllocator alloc) {
    requireNonNull(listener, "listener");
    TcpClient tcp = TcpClient.create(ConnectionProvider.newConnection())
        .runOn(requireNonNull(loops, "loops"))
        .option(ChannelOption.CONNECT_TIMEOUT_MILLIS, (int) options.connectTimeout().toMillis())
        .option(ChannelOption.AUTO_READ, false)
        .remoteAddress(options::remote);
    if (isInternet(options.remote())) {
      tcp = tcp.option(ChannelOption.TCP_NODELAY, true).option(ChannelOption.SO_KEEPALIVE, true);
    }
    return new Client(alloc == null ? tcp : tcp.option(ChannelOption.ALLOCATOR, alloc), options, loops, listener);
  }

  static ServerTransport<TcpListener> server(
      TcpServerOptions options, LoopResources loops, ConnectionListener listener, @Nullable ByteBufAllocator alloc) {
    requireNonNull(listener, "listener");
    TcpServer tcp = TcpServer.create()
        .runOn(requireNonNull(loops, "loops"))
        .option(ChannelOption.SO_BACKLOG, options.backlog())
        .childOption(ChannelOption.AUTO_READ, false)
        .bindAddress(options::local);
    if (isInternet(options.local())) {
      tcp = tcp.option(ChannelOption.SO_REUSEADDR, true)
          .childOption(ChannelOption.TCP_NODELAY, true)
          .childOption(ChannelOption.SO_KEEPALIVE, true);
    }
    return new Server(alloc == null ? tcp : tcp.childOption(ChannelOption.ALLOCATOR, alloc), options, loops, listener);
  }

  private static boolean isInternet(SocketAddress address) {
    return !(address instanceof DomainSocketAddress);
  }

  private static ConnectException notListening(SocketAddress remote, ConnectException failure) {
    String place = remote instanceof InetSocketAddress address
        ? address.getHostString() + ":" + address.getPort()
        : remote.toString();
    ConnectException told = new ConnectException("no node is listening at " + place);
    told.initCause(failure);
    return told;
  }

  private record Client(TcpClient tcp, TcpClientOptions options, LoopResources loops,
      ConnectionListener listener) implements ClientTransport {
    @Override
    public Mono<DuplexConnection> connect() {
      return Mono.defer(() -> LoopbackPath.connecting(tcp, options.remote(), loops).connect())
          .onErrorMap(ConnectException.class, e -> notListening(options.remote(), e))
          .flatMap(connection -> TcpConnection.open(connection, options, listener));
    }

    @Override
    public int maxFrameLength() {
      return options.limits().maxFrameBytes();
    }
  }

  private record Server(TcpServer tcp, TcpServerOptions options, LoopResources loops, ConnectionListener listener)
      implements
        ServerTransport<TcpListener> {
    @Override
    public Mono<TcpListener> start(ConnectionAcceptor acceptor) {
      requireNonNull(acceptor, "acceptor");
      return Mono.defer(() -> {
        IncomingFrames.Server shared = new IncomingFrames.Server(options);
        return LoopbackPath.listening(tcp, options.local(), loops).doOnConnection(connection -> {
          TcpConnection opened = TcpConnection.accept(connection, options, listener, shared);
          acceptor.apply(opened).subscribe(nothing -> {}, failed -> opened.dispose());
        })
            .bind()
            .map(server -> new TcpListener(server, shared));
      });
    }

    @Override
    public int maxFrameLength() {
      return options.limits().maxFrameBytes();
    }
  }
}
