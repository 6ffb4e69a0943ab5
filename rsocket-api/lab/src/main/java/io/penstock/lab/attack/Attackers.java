package io.penstock.lab.attack;

import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.group.ChannelGroup;
import io.netty.channel.group.ChannelGroupFuture;
import io.netty.channel.group.DefaultChannelGroup;
import io.netty.channel.socket.SocketChannel;
import io.netty.handler.codec.LengthFieldBasedFrameDecoder;
import io.netty.util.concurrent.Future;
import io.penstock.node.link.HostPort;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.SocketAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import reactor.netty.resources.LoopResources;

/// All connections of the attackers, on one event loop. They use an address of their own where this host has a second
/// one, since a node bounds the use by one address.
final class Attackers implements AutoCloseable {
  private static final int LONGEST_FRAME = 0xFF_FFFF;
  private static final Duration GOODBYE = Duration.ofSeconds(5);
  private static final String SECOND_LOOPBACK = "127.0.0.2";

  private final LoopResources loops = LoopResources.create("penstock-attack", 1, true);
  private final EventLoopGroup group = loops.onClient(true);
  private final Bootstrap bootstrap = new Bootstrap().group(group)
      .channel(loops.onChannelClass(SocketChannel.class, group)).option(ChannelOption.TCP_NODELAY, true);
  private final ChannelGroup open = new DefaultChannelGroup(group.next());
  private final InetSocketAddress node;
  private final @Nullable SocketAddress from;
  private @Nullable Future<?> ticking;

  Attackers(HostPort node) throws UnknownHostException {
    this.node = new InetSocketAddress(InetAddress.getByName(node.host()), node.port());
    this.from = secondLoopback(this.node.getAddress());
  }

  private static @Nullable SocketAddress secondLoopback(InetAddress node) {
    if (!node.isLoopbackAddress() || node.getAddress().length != 4) {
      return null;
    }
    try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getByName(SECOND_LOOPBACK))) {
      return new InetSocketAddress(free.getInetAddress(), 0);
    } catch (IOException e) {
      return null; // systems other than Linux have one loopback address
    }
  }

  /// Begins an attack, which runs until [#end()].
  ///
  /// @param attack made of its connections
  void begin(Function<Attackers, Attack> attack) {
    Attack begun = attack.apply(this);
    ticking = group.next().scheduleAtFixedRate(begun::tick, 0, Attack.TICK.toMillis(), TimeUnit.MILLISECONDS);
  }

  /// Ends the attack and closes every connection.
  void end() {
    if (ticking != null) {
      ticking.cancel(false);
    }
    group.next().submit(() -> {}).awaitUninterruptibly(); // a tick that ran may have opened more
    open.close().awaitUninterruptibly();
  }

  /// Opens a connection of `peer`; answers it at once, and whether it succeeds is seen later.
  Channel connect(Peer peer) {
    Bootstrap one = bootstrap.clone().handler(new ChannelInitializer<SocketChannel>() {
      @Override
      protected void initChannel(SocketChannel channel) {
        open.add(channel);
        channel.pipeline()
            .addLast(new LengthFieldBasedFrameDecoder(LONGEST_FRAME, 0, Frames.LENGTH_BYTES, 0, Frames.LENGTH_BYTES))
            .addLast(peer);
      }
    });
    return (from == null ? one.connect(node) : one.connect(node, from)).channel();
  }

  /// Closes every connection; on the event loop.
  void disperse() {
    ChannelGroupFuture unused = open.close();
  }

  @Override
  public void close() {
    end();
    loops.disposeLater(Duration.ZERO, GOODBYE).block(GOODBYE);
  }
}
