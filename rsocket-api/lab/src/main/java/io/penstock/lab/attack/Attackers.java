package io.penstock.lab.attack;

import static java.util.Objects.requireNonNull;

import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.group.ChannelGroup;
import io.netty.channel.group.ChannelGroupFuture;
import io.netty.channel.group.DefaultChannelGroup;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.unix.DomainSocketChannel;
import io.netty.handler.codec.LengthFieldBasedFrameDecoder;
import io.netty.util.concurrent.Future;
import io.penstock.wire.transport.Endpoint;
import io.penstock.wire.transport.TransportKind;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import reactor.netty.resources.LoopResources;

/// All connections of the attackers, on one event loop. They come from the good client's own address, as they do behind
/// a side-car proxy, and over every transport of the node, drawn for each connection.
final class Attackers implements AutoCloseable {
  private static final int LONGEST_FRAME = 0xFF_FFFF;
  private static final Duration GOODBYE = Duration.ofSeconds(5);

  private final LoopResources loops = LoopResources.create("penstock-attack", 1, true);
  private final EventLoopGroup group = loops.onClient(true);
  private final ChannelGroup open = new DefaultChannelGroup(group.next());
  private final List<Endpoint> ways;
  private final @Nullable SocketAddress admin;
  private final RandomGenerator random;
  private final Map<String, Long> breaches = new ConcurrentHashMap<>();
  private @Nullable Future<?> ticking;

  /// @param ways to the node, at least one
  /// @param admin endpoints of the node; null if they are not known
  /// @param random draws the way of each connection; the attackers' event loop uses it
  Attackers(List<Endpoint> ways, @Nullable InetSocketAddress admin, RandomGenerator random) {
    this.ways = List.copyOf(ways);
    this.admin = admin;
    this.random = random;
  }

  /// Begins an attack, which runs until [#end()].
  ///
  /// @param attack made of its connections
  void begin(Function<Attackers, Attack> attack) {
    breaches.clear();
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

  /// Reports that the node gave an attacker what it must not give.
  void breach(String what) {
    breaches.merge(what, 1L, Long::sum);
  }

  /// Numbers of breaches of the present attack, by their kind.
  Map<String, Long> breaches() {
    return new TreeMap<>(breaches);
  }

  /// Opens a connection of `peer`; answers it at once, and whether it succeeds is seen later.
  Channel connect(Peer peer) {
    Endpoint way = ways.get(random.nextInt(ways.size()));
    return open(way.address(), way.transport(), new ChannelInitializer<>() {
      @Override
      protected void initChannel(Channel channel) {
        open.add(channel);
        if (way.transport() == TransportKind.WS) {
          WebSocketPeer.addTo(channel.pipeline(), way, LONGEST_FRAME, peer);
        } else {
          channel.pipeline()
              .addLast(new LengthFieldBasedFrameDecoder(LONGEST_FRAME, 0, Frames.LENGTH_BYTES, 0, Frames.LENGTH_BYTES))
              .addLast(peer);
        }
      }
    });
  }

  /// Opens a connection for requests of HTTP to the WebSocket of the node; null if it has none.
  @Nullable Channel connectToWebSocket(ChannelHandler client) {
    return ways.stream().filter(way -> way.transport() == TransportKind.WS).findFirst()
        .map(way -> open(way.address(), way.transport(), initializer(client))).orElse(null);
  }

  /// Opens a connection to the admin endpoints; null if they are not known.
  @Nullable Channel connectToAdmin(ChannelHandler client) {
    return admin == null ? null : open(requireNonNull(admin), TransportKind.TCP, initializer(client));
  }

  private ChannelHandler initializer(ChannelHandler client) {
    return new ChannelInitializer<>() {
      @Override
      protected void initChannel(Channel channel) {
        open.add(channel);
        channel.pipeline().addLast(client);
      }
    };
  }

  private Channel open(SocketAddress to, TransportKind transport, ChannelHandler handler) {
    Bootstrap bootstrap = new Bootstrap().group(group).handler(handler);
    if (transport == TransportKind.UDS) {
      return bootstrap.channel(loops.onChannelClass(DomainSocketChannel.class, group)).connect(to).channel();
    }
    return bootstrap.channel(loops.onChannelClass(SocketChannel.class, group)).option(ChannelOption.TCP_NODELAY, true)
        .connect(to).channel();
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
