package io.penstock.node.door;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.channel.group.ChannelGroup;
import io.netty.channel.group.DefaultChannelGroup;
import io.netty.channel.socket.ServerSocketChannel;
import io.netty.channel.unix.DomainSocketAddress;
import io.netty.channel.unix.ServerDomainSocketChannel;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.concurrent.GlobalEventExecutor;
import io.penstock.node.config.NodeSettings;
import io.penstock.node.config.TransportSettings;
import io.penstock.wire.transport.CongestionControl;
import io.penstock.wire.transport.Endpoint;
import io.penstock.wire.transport.TransportKind;
import io.penstock.wire.transport.tcp.LoopbackPath;
import io.penstock.wire.transport.tcp.WildcardAddress;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.function.IntSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.netty.resources.LoopResources;

/// The socket at which a door listens, and the connections that it took there. Safe from any thread.
public final class DoorSocket {
  private static final Logger LOG = LoggerFactory.getLogger(DoorSocket.class);
  private static final int BACKLOG = 1024;
  private static final WriteBufferWaterMark WAITING = new WriteBufferWaterMark(512 << 10, 1 << 20);
  private static final Duration LOOK = Duration.ofMillis(5);

  /// Once it is closed, a connection that was accepted before and comes late is closed, too.
  private final ChannelGroup connections = new DefaultChannelGroup(GlobalEventExecutor.INSTANCE, true);
  private final String door;
  private final int most;
  private final Function<Channel, BooleanSupplier> accept;
  private final CongestionControl congestion;
  private final Scheduler timers;
  /// How long a drain takes new requests while others are under way.
  private final Duration grace;
  private final Channel listening;
  private final Endpoint address;
  /// A request that comes now ends its connection.
  private volatile boolean isDrained;

  private DoorSocket(DoorTerms terms, String door, int most, Function<Channel, BooleanSupplier> accept)
      throws IOException {
    this.door = door;
    this.most = most;
    this.accept = accept;
    this.congestion = terms.config().get(TransportSettings.CONGESTION);
    this.timers = terms.threads().timers();
    this.grace = terms.config().get(NodeSettings.DRAIN_TIMEOUT).dividedBy(2);
    Endpoint wanted = terms.listen();
    ChannelFuture bound = bootstrap(terms.threads().loops(), wanted).bind(local(wanted)).awaitUninterruptibly();
    if (!bound.isSuccess()) {
      throw new IOException(String.valueOf(bound.cause().getMessage()), bound.cause());
    }
    this.listening = bound.channel();
    this.address = listening.localAddress() instanceof InetSocketAddress internet
        ? new Endpoint(TransportKind.TCP, internet)
        : wanted;
  }

  /// Listens where `terms` say. Waits for the system, so never on an event loop.
  ///
  /// @param door its name, for the log
  /// @param most connections at a time; others are closed
  /// @param accept prepares the pipeline of a connection, in its event loop, before anything is read; tells there
  ///     whether a request of it is under way
  /// @throws IOException if the address cannot be bound
  public static DoorSocket bind(DoorTerms terms, String door, int most, Function<Channel, BooleanSupplier> accept)
      throws IOException {
    return new DoorSocket(terms, door, most, accept);
  }

  private ServerBootstrap bootstrap(LoopResources shared, Endpoint wanted) {
    boolean isUnix = wanted.transport() == TransportKind.UDS;
    LoopResources loops = WildcardAddress.listening(shared, wanted.address());
    EventLoopGroup group = loops.onServer(true);
    ServerBootstrap bootstrap = new ServerBootstrap().group(group)
        .channelFactory(isUnix
            ? () -> loops.onChannel(ServerDomainSocketChannel.class, group)
            : () -> loops.onChannel(ServerSocketChannel.class, group))
        .option(ChannelOption.SO_BACKLOG, BACKLOG).childOption(ChannelOption.ALLOCATOR, PooledByteBufAllocator.DEFAULT)
        .childOption(ChannelOption.WRITE_BUFFER_WATER_MARK, WAITING)
        .childHandler(new ChannelInitializer<>() {
          @Override
          protected void initChannel(Channel channel) {
            connected(channel);
          }
        });
    return isUnix
        ? bootstrap
        : bootstrap.option(ChannelOption.SO_REUSEADDR, true).childOption(ChannelOption.TCP_NODELAY, true)
            .childOption(ChannelOption.SO_KEEPALIVE, true);
  }

  /// A name is looked up here. The file of a Unix socket that no process listens at is removed.
  private static SocketAddress local(Endpoint wanted) throws IOException {
    if (wanted.address() instanceof InetSocketAddress internet && internet.isUnresolved()) {
      return new InetSocketAddress(internet.getHostString(), internet.getPort());
    } else if (wanted.address() instanceof DomainSocketAddress socket) {
      UnixSocketFile.requireFree(Path.of(socket.path()));
    }
    return wanted.address();
  }

  private void connected(Channel channel) {
    if (connections.size() >= most) {
      LOG.warn("connections of the door {} must be <= {} (were more): one was closed", door, most);
      var _ = channel.close();
      return;
    }
    connections.add(channel);
    CongestionControl chosen = LoopbackPath.chosen(channel, channel.remoteAddress(), congestion);
    if (chosen != null) {
      channel.config().setOption(chosen.option(), chosen.value());
    }
    Gate gate = new Gate();
    channel.pipeline().addLast(gate);
    gate.isBusy = accept.apply(channel);
  }

  /// Ends a connection that sends a new request when none is taken.
  private final class Gate extends ChannelInboundHandlerAdapter {
    private BooleanSupplier isBusy = () -> false;

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
      if (isDrained && !isBusy.getAsBoolean()) {
        ReferenceCountUtil.release(message);
        var _ = context.channel().close();
      } else {
        context.fireChannelRead(message);
      }
    }
  }

  /// Where it listens, with the port that was bound.
  public Endpoint address() {
    return address;
  }

  /// Connections that are open now.
  public int connections() {
    return connections.size();
  }

  /// Takes no new connection. Takes no new request when none is under way, or half the time of a drain is over: what a
  /// client sends then ends its connection, between two replies. Completes when the system has all replies. Lazy.
  ///
  /// @param underWay number of requests that are not answered; of a value that comes, too
  public Mono<Void> drain(IntSupplier underWay) {
    return refuse().then(idle(underWay).timeout(grace, Mono.empty(), timers))
        .then(Mono.<Void>fromRunnable(() -> isDrained = true)).then(idle(underWay));
  }

  private Mono<Void> refuse() {
    return Mono.defer(() -> ended(listening.close()));
  }

  /// Ends the socket, its connections, and its file if it has one. Lazy. Connections learn of it afterwards: until then
  /// their requests are under way.
  public Mono<Void> end() {
    return refuse().then(Mono.<Void>create(sink -> connections.close().addListener(closed -> sink.success())))
        .then(Mono.fromCallable(() -> {
          if (address.transport() == TransportKind.UDS) {
            Files.deleteIfExists(address.path());
          }
          return address;
        })).then();
  }

  /// Completes when no request is under way, and the system has all replies.
  public Mono<Void> idle(IntSupplier underWay) {
    return Flux.interval(Duration.ZERO, LOOK, timers).onBackpressureDrop()
        .filter(tick -> underWay.getAsInt() == 0 && connections.stream().allMatch(DoorSocket::hasSentAll)).next()
        .then();
  }

  private static boolean hasSentAll(Channel channel) {
    ChannelOutboundBuffer unsent = channel.unsafe().outboundBuffer();
    return unsent == null || unsent.totalPendingWriteBytes() == 0;
  }

  private static Mono<Void> ended(ChannelFuture future) {
    return Mono.create(sink -> future.addListener((ChannelFutureListener) done -> sink.success()));
  }
}
