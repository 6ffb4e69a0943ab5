package io.penstock.node.door;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.ManualIoEventLoop;
import io.netty.channel.epoll.Epoll;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.nio.NioIoHandler;
import io.penstock.flow.ValueStore;
import io.penstock.node.config.DoorSettings;
import io.penstock.node.config.NodeConfig;
import io.penstock.node.setting.Setting;
import io.penstock.stack.HostTier;
import io.penstock.stack.shape.StackOptions;
import io.penstock.tier.BlockTier;
import io.penstock.tier.TierListener;
import io.penstock.wire.security.Access;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;
import reactor.netty.resources.LoopResources;

/// A door over tiers in memory whose one network thread is that of the test: nothing is read or sent but within
/// [#turn()]. What passes its sockets is told to the test at once. For the thread that made it.
public final class DrivenDoor implements AutoCloseable {
  private static final Duration SOON = Duration.ofSeconds(60);

  private final ManualIoEventLoop loop;
  private final Scheduler timers = Schedulers.newSingle("door-timers", true);
  private final List<HostTier> tiers = new ArrayList<>();
  private final Door door;

  /// Told within a turn what passes the sockets of the door.
  public interface Traffic {
    /// The door has read `bytes` of the client at `port`, and did nothing with them yet.
    void read(int port, int bytes);

    /// The door has handed bytes for the client at `port` to the system.
    void sent(int port);

    /// The connection of the client at `port` has ended; the door is told next.
    default void ended(int port) {}
  }

  /// @param settings of the door
  /// @param sizes of parts, and bytes of memory for the parts of each size
  /// @param traffic told what passes
  public DrivenDoor(DoorKind kind, DoorSettings settings, Map<Setting<?>, String> more, Map<Integer, Long> sizes,
      Traffic traffic) {
    IoHandlerFactory sockets = Epoll.isAvailable() ? EpollIoHandler.newFactory() : NioIoHandler.newFactory();
    loop = new ManualIoEventLoop(Thread.currentThread(), sockets);
    Map<Setting<?>, String> flags = new HashMap<>(more);
    flags.put(settings.listen(), "127.0.0.1:0");
    SortedMap<Integer, Long> longestFirst = new TreeMap<>(Comparator.reverseOrder()); // as the spaces of a node are
    longestFirst.putAll(sizes);
    flags.put(settings.partBytes(),
        String.join(",", longestFirst.keySet().stream().map(String::valueOf).toList()));
    NodeConfig config = NodeConfig.resolve(null, Map.of(), flags);
    longestFirst.forEach((part,
        bytes) -> tiers.add(new HostTier(ValueStore.space("values", part, ""), (int) (bytes / part),
            StackOptions.defaults(config.spaces().get(tiers.size()).name()).withIngressBlocks(8).withExact(false),
            TierListener.noop())));
    DoorTerms.Threads threads = new DoorTerms.Threads(new Driven(loop, traffic), timers, timers, timers);
    DoorTerms.Clocks clocks = new DoorTerms.Clocks(InstantSource.system(), System::nanoTime);
    DoorSpaces spaces = DoorSpaces.of(settings, config, List.<BlockTier>copyOf(tiers), threads, clocks,
        new HashMap<>());
    door = driven(kind.open(new DoorTerms(config.get(settings.listen()).orElseThrow(), config, null,
        Access.open(), spaces, new DoorUses(use -> {}), 1, threads, clocks)));
  }

  public int port() {
    return door.address().port();
  }

  /// The network thread looks at each of its sockets once, and does what it has to do.
  public void turn() {
    loop.runNow();
  }

  private <T> T driven(Mono<T> work) {
    CompletableFuture<T> end = work.timeout(SOON).toFuture();
    while (!end.isDone()) {
      loop.run(TimeUnit.MILLISECONDS.toNanos(1));
    }
    return end.join();
  }

  /// Blocks in memory that are neither visible nor free.
  public long held() {
    long held = 0;
    for (HostTier tier : tiers) {
      held += tier.arena().claimedSlots() - driven(tier.stat()).blocks();
    }
    return held;
  }

  /// Begins to close the door, for turns to go on with.
  ///
  /// @return ends when the door is closed
  public CompletableFuture<Void> closing() {
    return door.close().toFuture();
  }

  /// Closes the door, which must hold no memory then, and its tiers.
  @Override
  public void close() {
    driven(door.close().thenReturn(true));
    assertThat(held()).as("blocks that a closed door holds").isZero();
    driven(Mono.when(tiers.stream().map(BlockTier::close).toList()).thenReturn(true));
    var _ = loop.shutdownGracefully(0, SOON.toMillis(), TimeUnit.MILLISECONDS);
    while (!loop.isTerminated()) {
      loop.run(TimeUnit.MILLISECONDS.toNanos(1));
    }
    timers.dispose();
  }

  /// Sockets on the loop of the test.
  private record Driven(ManualIoEventLoop loop, Traffic traffic) implements LoopResources {
    @Override
    public EventLoopGroup onServer(boolean useNative) {
      return loop;
    }

    @Override
    public <C extends Channel> C onChannel(Class<C> type, EventLoopGroup group) {
      C channel = LoopResources.super.onChannel(type, group);
      channel.pipeline().addLast(new Accepted(traffic));
      return channel;
    }
  }

  private static final class Accepted extends ChannelInboundHandlerAdapter {
    private final Traffic traffic;

    Accepted(Traffic traffic) {
      this.traffic = traffic;
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
      if (message instanceof Channel client && client.remoteAddress() instanceof InetSocketAddress at) {
        client.pipeline().addLast(new Passing(traffic, at.getPort()));
      }
      context.fireChannelRead(message);
    }
  }

  private static final class Passing extends ChannelDuplexHandler {
    private final Traffic traffic;
    private final int port;
    private boolean hasWritten;

    Passing(Traffic traffic, int port) {
      this.traffic = traffic;
      this.port = port;
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
      if (message instanceof ByteBuf bytes) {
        traffic.read(port, bytes.readableBytes());
      }
      context.fireChannelRead(message);
    }

    @Override
    public void channelInactive(ChannelHandlerContext context) {
      traffic.ended(port);
      context.fireChannelInactive();
    }

    @Override
    public void write(ChannelHandlerContext context, Object message, ChannelPromise promise) {
      hasWritten = true;
      var _ = context.write(message, promise);
    }

    @Override
    public void flush(ChannelHandlerContext context) {
      context.flush();
      if (hasWritten) {
        hasWritten = false;
        traffic.sent(port);
      }
    }
  }
}
