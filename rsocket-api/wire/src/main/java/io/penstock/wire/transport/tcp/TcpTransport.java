package io.penstock.wire.transport.tcp;

import static java.util.Objects.requireNonNull;

import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.ChannelOption;
import io.netty.channel.local.LocalAddress;
import io.netty.channel.unix.DomainSocketAddress;
import io.penstock.check.InternetAddress;
import io.penstock.system.SocketFile;
import io.penstock.wire.transport.AwakeLoops;
import io.penstock.wire.transport.ConnectionListener;
import io.penstock.wire.transport.Endpoint;
import io.penstock.wire.transport.LoopTimers;
import io.penstock.wire.transport.SocketTuning;
import io.penstock.wire.transport.TimedTransport;
import io.penstock.wire.transport.TransportKind;
import io.penstock.wire.transport.local.LocalTransport;
import io.rsocket.DuplexConnection;
import io.rsocket.transport.ClientTransport;
import io.rsocket.transport.ServerTransport;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.file.Path;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.netty.DisposableServer;
import reactor.netty.resources.ConnectionProvider;
import reactor.netty.resources.LoopResources;
import reactor.netty.tcp.TcpClient;
import reactor.netty.tcp.TcpServer;

/// RSocket over TCP, Unix domain sockets or WebSocket, made for frames of 64 KiB to 16 MiB.
///
/// Event loops, and whether they are native, come from the [LoopResources] given; their giver disposes of them.
/// `package-info` lists the bounds. RSocket's fragmentation is best left off; RSocket core counts 9 bytes of headers
/// into the longest frame, so a payload of a request or an item may have `maxFrameBytes - 9` bytes, metadata and its
/// length included.
///
/// A Unix domain socket belongs to this user alone. The file of a dead process is replaced; a path at which a living
/// process listens is refused.
public final class TcpTransport {
  private TcpTransport() {}

  /// A client of one address; each `connect` opens one connection and may be cancelled.
  public static ClientTransport client(TcpClientOptions options, LoopResources loops) {
    return client(options, loops, ConnectionListener.noop());
  }

  /// A client whose connections `listener` receives.
  public static ClientTransport client(TcpClientOptions options, LoopResources loops, ConnectionListener listener) {
    return client(options, Framing.LENGTHS, loops, listener, null);
  }

  /// A client of `place`, over the transport that it names.
  ///
  /// @param options of which the address does not count
  public static ClientTransport client(Endpoint place, TcpClientOptions options, LoopResources loops,
      ConnectionListener listener) {
    TcpClientOptions there = options.withRemote(place.address());
    return switch (place.transport()) {
      case TCP, UDS -> client(there, loops, listener);
      case WS -> webSocketClient(there, loops, listener);
      case LOCAL -> LocalTransport.client(((LocalAddress) place.address()).id(), options.limits(), loops, listener);
    };
  }

  /// A client over WebSocket.
  public static ClientTransport webSocketClient(TcpClientOptions options, LoopResources loops,
      ConnectionListener listener) {
    return client(options, webSocketTo(options), loops, listener, null);
  }

  static Framing webSocketTo(TcpClientOptions options) {
    return WebSocketFraming.ofClient(authority(options.remote()), options.connectTimeout());
  }

  /// A server on one address; `start` listens.
  public static ServerTransport<TcpListener> server(TcpServerOptions options, LoopResources loops) {
    return server(options, loops, ConnectionListener.noop());
  }

  /// A server whose connections `listener` receives.
  public static ServerTransport<TcpListener> server(TcpServerOptions options, LoopResources loops,
      ConnectionListener listener) {
    return server(options, Framing.LENGTHS, loops, listener, null);
  }

  /// Takes an internet address or a Unix domain socket now; it accepts when it is started.
  ///
  /// @param bounds shared with the other transports of the server
  /// @return a cold `Mono`; signals the reason if the address cannot be taken
  public static Mono<BoundTransport> bind(TcpServerOptions options, ServerBounds bounds, LoopResources loops,
      ConnectionListener listener) {
    return bind(options, Framing.LENGTHS, bounds, loops, listener, null);
  }

  /// Takes an address for WebSocket.
  ///
  /// @param origins of the pages whose browsers may connect, `*` for any; a client that names none is no browser and
  ///     may connect
  public static Mono<BoundTransport> bindWebSocket(TcpServerOptions options, Set<String> origins, ServerBounds bounds,
      LoopResources loops, ConnectionListener listener) {
    return bind(options, WebSocketFraming.ofServer(origins), bounds, loops, listener, null);
  }

  static ClientTransport client(TcpClientOptions options, Framing framing, LoopResources loops,
      ConnectionListener listener, @Nullable ByteBufAllocator alloc) {
    requireNonNull(listener, "listener");
    TcpClient tcp = TcpClient.create(ConnectionProvider.newConnection())
        .runOn(requireNonNull(loops, "loops"))
        .option(ChannelOption.CONNECT_TIMEOUT_MILLIS, (int) options.connectTimeout().toMillis())
        .option(ChannelOption.AUTO_READ, false)
        .remoteAddress(options::remote);
    if (isInternet(options.remote())) {
      tcp = tcp.option(ChannelOption.TCP_NODELAY, true).option(ChannelOption.SO_KEEPALIVE, true)
          .resolver(options.names());
    }
    SocketTuning tuning = options.tuning();
    int sendBytes = tuning.sendBytes(options.remote());
    if (sendBytes > 0) {
      tcp = tcp.option(ChannelOption.SO_SNDBUF, sendBytes);
    }
    if (tuning.receiveBytes() > 0) {
      tcp = tcp.option(ChannelOption.SO_RCVBUF, tuning.receiveBytes());
    }
    return new Client(alloc == null ? tcp : tcp.option(ChannelOption.ALLOCATOR, alloc), options, framing, loops,
        listener, AwakeLoops.of(tuning));
  }

  static ServerTransport<TcpListener> server(TcpServerOptions options, Framing framing, LoopResources loops,
      ConnectionListener listener, @Nullable ByteBufAllocator alloc) {
    return new Server(options, framing, requireNonNull(loops, "loops"), requireNonNull(listener, "listener"), alloc);
  }

  static Mono<BoundTransport> bind(TcpServerOptions options, Framing framing, ServerBounds bounds, LoopResources loops,
      ConnectionListener listener, @Nullable ByteBufAllocator alloc) {
    return Mono.defer(() -> {
      BoundTransport bound = new BoundTransport(options, bounds);
      TcpServer tcp = LoopbackPath
          .listening(tcp(options, loops, alloc), options.local(), loops, options.tuning().congestion())
          .doOnConnection(connection -> bound.accept(connection, framing, listener));
      return options.local() instanceof DomainSocketAddress socket
          ? bindFile(Path.of(socket.path()), tcp, bound)
          : tcp.bindAddress(options::local).bind()
              .map(server -> bound.at(server, endpoint(framing, server), () -> {}));
    });
  }

  private static TcpServer tcp(TcpServerOptions options, LoopResources loops, @Nullable ByteBufAllocator alloc) {
    TcpServer tcp = TcpServer.create()
        .runOn(WildcardAddress.listening(loops, options.local()))
        .option(ChannelOption.SO_BACKLOG, options.backlog())
        .option(ChannelOption.AUTO_READ, false)
        .childOption(ChannelOption.AUTO_READ, false);
    if (isInternet(options.local())) {
      tcp = tcp.option(ChannelOption.SO_REUSEADDR, true)
          .childOption(ChannelOption.TCP_NODELAY, true)
          .childOption(ChannelOption.SO_KEEPALIVE, true);
    }
    SocketTuning tuning = options.tuning();
    int sendBytes = tuning.sendBytes(options.local());
    if (sendBytes > 0) {
      tcp = tcp.childOption(ChannelOption.SO_SNDBUF, sendBytes);
    }
    if (tuning.receiveBytes() > 0) { // before a connection is there: its window is agreed on with it
      tcp = tcp.option(ChannelOption.SO_RCVBUF, tuning.receiveBytes());
    }
    return alloc == null ? tcp : tcp.childOption(ChannelOption.ALLOCATOR, alloc);
  }

  private static Mono<BoundTransport> bindFile(Path wanted, TcpServer tcp, BoundTransport bound) {
    return Mono.fromCallable(() -> SocketFile.claim(wanted))
        .flatMap(file -> Mono.fromCallable(() -> new DomainSocketAddress(file.hidden().toString()))
            .flatMap(hidden -> tcp.bindAddress(() -> hidden).bind().map(DisposableServer.class::cast))
            .flatMap(server -> Mono.fromCallable(() -> {
              file.show();
              return bound.at(server, Endpoint.unix(file.path()), file::close);
            }).doOnError(failed -> server.dispose()))
            .doOnError(failed -> file.close()).doOnCancel(file::close));
  }

  private static Endpoint endpoint(Framing framing, DisposableServer server) {
    TransportKind kind = framing instanceof WebSocketFraming ? TransportKind.WS : TransportKind.TCP;
    return new Endpoint(kind, server.channel().localAddress());
  }

  private static boolean isInternet(SocketAddress address) {
    return !(address instanceof DomainSocketAddress);
  }

  /// A link means nothing to the node, and no header of HTTP names one (RFC 6874).
  private static String authority(SocketAddress remote) {
    return remote instanceof InetSocketAddress address
        ? InternetAddress.text(InternetAddress.withoutLink(InternetAddress.host(address)), address.getPort())
        : remote.toString();
  }

  private static String place(SocketAddress remote) {
    return remote instanceof InetSocketAddress address ? Endpoint.place(address) : remote.toString();
  }

  private static ConnectException notListening(SocketAddress remote, IOException failure) {
    ConnectException told = new ConnectException("no node is listening at " + place(remote));
    told.initCause(failure);
    return told;
  }

  private record Client(TcpClient tcp, TcpClientOptions options, Framing framing, LoopResources loops,
      ConnectionListener listener, AwakeLoops awake) implements ClientTransport, TimedTransport {
    @Override
    public Scheduler timers() {
      return LoopTimers.ofFirst(loops.onClient(LoopResources.DEFAULT_NATIVE));
    }

    @Override
    public Mono<DuplexConnection> connect() {
      return Mono.defer(() -> LoopbackPath.connecting(tcp, options.remote(), loops, options.tuning().congestion())
          .connect())
          .onErrorMap(ConnectException.class, e -> notListening(options.remote(), e))
          .onErrorMap(FileNotFoundException.class, e -> notListening(options.remote(), e))
          .flatMap(connection -> TcpConnection.open(connection, framing, options, listener, awake));
    }

    @Override
    public int maxFrameLength() {
      return options.limits().maxFrameBytes();
    }
  }

  private record Server(TcpServerOptions options, Framing framing, LoopResources loops, ConnectionListener listener,
      @Nullable ByteBufAllocator alloc) implements ServerTransport<TcpListener> {
    @Override
    public Mono<TcpListener> start(ConnectionAcceptor acceptor) {
      requireNonNull(acceptor, "acceptor");
      return Mono.defer(() -> bind(options, framing, ServerBounds.of(options), loops, listener, alloc))
          .flatMap(bound -> bound.start(acceptor));
    }

    @Override
    public int maxFrameLength() {
      return options.limits().maxFrameBytes();
    }
  }
}
