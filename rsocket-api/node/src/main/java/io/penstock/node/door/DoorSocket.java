package io.penstock.node.door;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
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
import java.util.function.Consumer;
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
  private final Consumer<Channel> accept;
  private final CongestionControl congestion;
  private final Scheduler timers;
  /// How long a drain takes new requests while others are under way.
  private final Duration grace;
  private final Channel listening;
  private final Endpoint address;

  private DoorSocket(DoorTerms terms, String door, int most, Consumer<Channel> accept) throws IOException {
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
  /// @param accept prepares the pipeline of a connection, in its event loop, before anything is read
  /// @throws IOException if the address cannot be bound
  public static DoorSocket bind(DoorTerms terms, String door, int most, Consumer<Channel> accept) throws IOException {
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
    accept.accept(channel);
  }

  /// Where it listens, with the port that was bound.
  public Endpoint address() {
    return address;
  }

  /// Connections that are open now.
  public int connections() {
    return connections.size();
  }

  /// Takes no new connection. When no request is under way, or half the time of a drain is over, no new one is to be
  /// taken. Completes when those that are under way have ended, and the system has all replies. Lazy.
  ///
  /// @param underWay number of requests that are not answered; of a value that comes, too
  /// @param last told that the door is to take no new request: a client that sends one is to find its connection ended,
  ///     between two replies
  public Mono<Void> drain(IntSupplier underWay, Runnable last) {
    return refuse().then(idle(underWay).timeout(grace, Mono.empty(), timers)).then(Mono.<Void>fromRunnable(last))
        .then(idle(underWay));
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

  /// Completes when no request is under way, and the system has all replies, at two looks: at one of them the next
  /// request of a client, or a reply, may be on its way within this process.
  public Mono<Void> idle(IntSupplier underWay) {
    return Flux.interval(Duration.ZERO, LOOK, timers).onBackpressureDrop()
        .map(tick -> underWay.getAsInt() == 0 && connections.stream().allMatch(DoorSocket::hasSentAll))
        .scan(0, (looks, isIdle) -> isIdle ? looks + 1 : 0).filter(looks -> looks == 2).next().then();
  }

  private static boolean hasSentAll(Channel channel) {
    ChannelOutboundBuffer unsent = channel.unsafe().outboundBuffer();
    return unsent == null || unsent.totalPendingWriteBytes() == 0;
  }

  private static Mono<Void> ended(ChannelFuture future) {
    return Mono.create(sink -> future.addListener((ChannelFutureListener) done -> sink.success()));
  }
}
