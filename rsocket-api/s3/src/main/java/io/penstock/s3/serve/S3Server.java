package io.penstock.s3.serve;

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
import io.netty.handler.codec.http.HttpDecoderConfig;
import io.netty.handler.codec.http.HttpResponseEncoder;
import io.netty.util.concurrent.GlobalEventExecutor;
import io.penstock.node.door.Door;
import io.penstock.wire.security.ServerTls;
import io.penstock.wire.transport.Endpoint;
import io.penstock.wire.transport.TransportKind;
import io.penstock.wire.transport.tcp.WildcardAddress;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.netty.resources.LoopResources;

/// The socket of the door and its connections.
public final class S3Server implements Door {
  private static final Logger LOG = LoggerFactory.getLogger(S3Server.class);
  private static final int BACKLOG = 1024;
  private static final WriteBufferWaterMark WAITING = new WriteBufferWaterMark(512 << 10, 1 << 20);
  private static final Duration LOOK = Duration.ofMillis(5);
  /// A key of 1,024 bytes, each encoded, and a query with a signature and a token.
  private static final HttpDecoderConfig HTTP = new HttpDecoderConfig().setMaxInitialLineLength(16 << 10)
      .setMaxHeaderSize(32 << 10).setMaxChunkSize(64 << 10);

  private final S3House house;
  private final @Nullable ServerTls tls;
  private final Scheduler timers;
  private final Runnable drains;
  private final Mono<Void> last;
  private final ChannelGroup connections = new DefaultChannelGroup(GlobalEventExecutor.INSTANCE);
  private final Mono<Void> drained = Mono.defer(this::drainNow).cache();
  private final Mono<Void> closed = Mono.defer(this::closeNow).cache();
  private final Channel listening;
  private final Endpoint address;

  /// @param drains told when nothing new is to be stored
  /// @param last what ends after the last connection
  S3Server(S3House house, Endpoint wanted, @Nullable ServerTls tls, LoopResources loops, Scheduler timers,
      Runnable drains, Mono<Void> last) throws IOException {
    this.house = house;
    this.tls = tls;
    this.timers = timers;
    this.drains = drains;
    this.last = last;
    if (!(wanted.address() instanceof InetSocketAddress internet)) {
      throw new IOException("it is no HOST:PORT");
    }
    InetSocketAddress local =
        internet.isUnresolved() ? new InetSocketAddress(internet.getHostString(), internet.getPort()) : internet;
    ChannelFuture bound = bootstrap(WildcardAddress.listening(loops, local)).bind(local).awaitUninterruptibly();
    if (!bound.isSuccess()) {
      throw new IOException(String.valueOf(bound.cause().getMessage()), bound.cause());
    }
    this.listening = bound.channel();
    this.address = new Endpoint(TransportKind.TCP, listening.localAddress());
  }

  private ServerBootstrap bootstrap(LoopResources loops) {
    EventLoopGroup group = loops.onServer(true);
    return new ServerBootstrap().group(group).channelFactory(() -> loops.onChannel(ServerSocketChannel.class, group))
        .option(ChannelOption.SO_BACKLOG, BACKLOG).option(ChannelOption.SO_REUSEADDR, true)
        .childOption(ChannelOption.ALLOCATOR, PooledByteBufAllocator.DEFAULT)
        .childOption(ChannelOption.WRITE_BUFFER_WATER_MARK, WAITING).childOption(ChannelOption.AUTO_READ, false)
        .childOption(ChannelOption.TCP_NODELAY, true).childOption(ChannelOption.SO_KEEPALIVE, true)
        .childHandler(new ChannelInitializer<>() {
          @Override
          protected void initChannel(Channel channel) {
            accept(channel);
          }
        });
  }

  private void accept(Channel channel) {
    if (connections.size() >= house.limits.mostConnections()) {
      LOG.warn("connections of the door s3 must be <= {} (were more): one was closed", house.limits.mostConnections());
      var _ = channel.close();
      return;
    }
    connections.add(channel);
    ChannelPipeline pipeline = channel.pipeline();
    pipeline.addLast(new WriteStall(house.limits.stallNanos()));
    if (tls != null) {
      pipeline.addLast(tls.handler(channel.alloc()));
    }
    HeadDecoder decoder = new HeadDecoder(HTTP);
    pipeline.addLast(decoder, new HttpResponseEncoder(), new S3Connection(house, decoder));
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
    drains.run();
    return ended(listening.close()).then(Mono.defer(this::idle));
  }

  private Mono<Void> idle() {
    return Flux.interval(Duration.ZERO, LOOK, timers).onBackpressureDrop().filter(tick -> house.underWay() == 0).next()
        .then();
  }

  @Override
  public Mono<Void> close() {
    return closed;
  }

  private Mono<Void> closeNow() {
    drains.run();
    return ended(listening.close())
        .then(Mono.<Void>create(sink -> connections.close().addListener(ended -> sink.success())))
        .then(Mono.defer(this::idle)).then(last);
  }

  private static Mono<Void> ended(ChannelFuture future) {
    return Mono.create(sink -> future.addListener((ChannelFutureListener) done -> sink.success()));
  }
}
