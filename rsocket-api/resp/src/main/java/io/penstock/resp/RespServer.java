package io.penstock.resp;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.channel.group.ChannelGroup;
import io.netty.channel.group.DefaultChannelGroup;
import io.netty.channel.socket.ServerSocketChannel;
import io.netty.channel.unix.DomainSocketAddress;
import io.netty.channel.unix.ServerDomainSocketChannel;
import io.netty.handler.codec.redis.FixedRedisMessagePool;
import io.netty.handler.codec.redis.RedisDecoder;
import io.netty.util.concurrent.GlobalEventExecutor;
import io.penstock.node.door.Door;
import io.penstock.node.door.DoorValues;
import io.penstock.wire.security.ServerTls;
import io.penstock.wire.transport.Endpoint;
import io.penstock.wire.transport.TransportKind;
import io.penstock.wire.transport.tcp.WildcardAddress;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.netty.resources.LoopResources;

/// The socket of the door and its connections.
final class RespServer implements Door {
  private static final Logger LOG = LoggerFactory.getLogger(RespServer.class);
  private static final int MOST_LINE_BYTES = 64 << 10;
  private static final int BACKLOG = 1024;
  private static final WriteBufferWaterMark WAITING = new WriteBufferWaterMark(512 << 10, 1 << 20);
  private static final Duration LOOK = Duration.ofMillis(5);

  private final RespHouse house;
  private final ChannelGroup connections = new DefaultChannelGroup(GlobalEventExecutor.INSTANCE);
  private final Mono<Void> drained = Mono.defer(this::drainNow).cache();
  private final Mono<Void> closed = Mono.defer(this::closeNow).cache();
  private final Channel listening;
  private final Endpoint address;

  private RespServer(RespHouse house) throws IOException {
    this.house = house;
    Endpoint wanted = house.terms().listen();
    ChannelFuture bound = bootstrap(wanted).bind(local(wanted)).awaitUninterruptibly();
    if (!bound.isSuccess()) {
      throw new IOException(String.valueOf(bound.cause().getMessage()), bound.cause());
    }
    house.terms().spaces().all().forEach(space -> space.values().onGone(name -> goesWith(space.values(), name)));
    this.listening = bound.channel();
    this.address = listening.localAddress() instanceof InetSocketAddress internet
        ? new Endpoint(TransportKind.TCP, internet)
        : wanted;
  }

  /// The other value of a pair goes with the first.
  private static void goesWith(DoorValues values, String name) {
    String other = EngineKey.other(name);
    if (other != null) {
      values.remove(other).subscribe(removed -> {},
          failure -> LOG.warn("half a pair stays: {}", failure.toString()));
    }
  }

  /// Listens where `house` says.
  ///
  /// @return cold; binds on a thread that may wait
  static Mono<RespServer> listen(RespHouse house) {
    return Mono.fromCallable(() -> new RespServer(house)).subscribeOn(house.terms().threads().decisions());
  }

  private ServerBootstrap bootstrap(Endpoint wanted) {
    boolean isUnix = wanted.transport() == TransportKind.UDS;
    LoopResources loops = WildcardAddress.listening(house.terms().threads().loops(), wanted.address());
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
            accept(channel);
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

  private void accept(Channel channel) {
    if (connections.size() >= house.limits().mostConnections()) {
      LOG.warn("connections of the door resp must be <= {} (were more): one was closed",
          house.limits().mostConnections());
      ChannelFuture unused = channel.close();
      return;
    }
    connections.add(channel);
    ChannelPipeline pipeline = channel.pipeline();
    ServerTls tls = house.terms().tls();
    if (tls != null) {
      pipeline.addLast(tls.handler(channel.alloc()));
    }
    RespConnection connection = new RespConnection(house);
    channel.config().setRecvByteBufAllocator(new ValueReads(tls == null ? connection::room : () -> null));
    pipeline.addLast(new RedisDecoder(MOST_LINE_BYTES, FixedRedisMessagePool.INSTANCE, true), connection);
  }

  @Override
  public Endpoint address() {
    return address;
  }

  @Override
  public int connections() {
    return connections.size();
  }

  @Override
  public Mono<Void> drain() {
    return drained;
  }

  private Mono<Void> drainNow() {
    house.drain();
    return ended(listening.close()).then(Flux.interval(Duration.ZERO, LOOK, house.terms().threads().timers())
        .filter(tick -> house.underWay() == 0).next().then());
  }

  @Override
  public Mono<Void> close() {
    return closed;
  }

  private Mono<Void> closeNow() {
    house.drain();
    return ended(listening.close()).then(Mono.<Void>create(sink -> connections.close()
        .addListener(closed -> sink.success()))).then(Mono.fromCallable(() -> {
          if (address.transport() == TransportKind.UDS) {
            Files.deleteIfExists(address.path());
          }
          return address;
        })).then();
  }

  private static Mono<Void> ended(ChannelFuture future) {
    return Mono.create(sink -> future.addListener((ChannelFutureListener) done -> sink.success()));
  }
}
