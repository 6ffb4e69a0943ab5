package io.penstock.wire;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.ByteBufAllocatorMetricProvider;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockLayout;
import io.penstock.block.BlockScope;
import io.penstock.block.CacheSpace;
import io.penstock.block.Plane.ElementType;
import io.penstock.block.SlabArena;
import io.penstock.block.SliceShape;
import io.penstock.flow.ProducingSource;
import io.penstock.testkit.Blocks;
import io.penstock.testkit.Eventually;
import io.penstock.tier.ByteBudget;
import io.penstock.tier.HostTier;
import io.penstock.tier.OnMiss;
import io.penstock.tier.TierListener;
import io.penstock.wire.client.KvClient;
import io.penstock.wire.client.KvClientOptions;
import io.penstock.wire.protocol.ControlCodec;
import io.penstock.wire.protocol.RequestMetadata;
import io.penstock.wire.server.FrameLengths;
import io.penstock.wire.server.KvServer;
import io.penstock.wire.server.KvServerOptions;
import io.penstock.wire.transport.ConnectionGauges;
import io.penstock.wire.transport.ConnectionListener;
import io.penstock.wire.transport.ReceiveLimits;
import io.penstock.wire.transport.Refusal;
import io.penstock.wire.transport.TransportFailure.RefusedPeerException;
import io.penstock.wire.transport.tcp.TcpClientOptions;
import io.penstock.wire.transport.tcp.TcpListener;
import io.penstock.wire.transport.tcp.TcpServerOptions;
import io.penstock.wire.transport.tcp.TcpTransport;
import io.rsocket.frame.SetupFrameCodec;
import io.rsocket.util.DefaultPayload;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import reactor.core.publisher.Flux;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;
import reactor.netty.resources.LoopResources;

/// Two hundred peers that begin long frames and do not end them, and a good client beside them.
@Timeout(120)
final class UnfinishedFramesTest {
  private static final CacheSpace SPACE =
      CacheSpace.of("unfinished", BlockLayout.attention(8, 64, 2, 64, ElementType.BF16));
  private static final Duration PATIENCE = WireNode.PATIENCE;
  private static final int PEERS = 200;
  private static final int ROOM_BYTES = 8 << 20;
  private static final int BUDGET_BYTES = 8 << 20;
  /// A client that were held up would wait for the time of a frame, which is thirty times as long.
  private static final Duration SLOWEST = Duration.ofSeconds(1);

  private final LoopResources loops = LoopResources.create("unfinished", 1, 2, true);
  private final Scheduler timers = Schedulers.newSingle("timers", true);
  private final HostTier tier = new HostTier(SPACE, 64, TierListener.noop());
  private final SlabArena arena = new SlabArena("client", SPACE.layout(), 64, 64);
  private final ByteBudget budget = new ByteBudget("node", BUDGET_BYTES, 64);
  private final Queue<Refusal> refusals = new ConcurrentLinkedQueue<>();
  private final List<Socket> peers = new ArrayList<>();
  private final KvServerOptions options = KvServerOptions.defaults();
  private KvServer server;
  private KvClient good;
  private FrameLengths lengths;

  private void listen(Duration frameTime) {
    lengths = FrameLengths.of(options.limits(), SPACE.layout());
    TcpServerOptions where = lengths.bound(TcpServerOptions.on("127.0.0.1", 0),
        ReceiveLimits.defaults().withRoomBytes(ROOM_BYTES).withFrameTime(frameTime));
    server = requireNonNull(KvServer.bind(TcpTransport.server(where, loops,
        new ConnectionListener() {
          @Override
          public void closed(ConnectionGauges connection, @Nullable Throwable cause) {
            if (cause instanceof RefusedPeerException refused) {
              refusals.add(refused.reason());
            }
          }
        }), tier, options, budget, timers).block(PATIENCE));
    good = requireNonNull(KvClient.connect(TcpTransport.client(TcpClientOptions.to("127.0.0.1", port()), loops),
        KvClientOptions.defaults(), SPACE, arena, new ByteBudget("client", 8 << 20, 16)).block(PATIENCE));
  }

  @BeforeEach
  void warmUp() {
    ByteBufAllocator.DEFAULT.directBuffer(1 << 20).release();
  }

  @AfterEach
  void everythingComesBack() throws IOException {
    for (Socket peer : peers) {
      peer.close();
    }
    good.close().block(PATIENCE);
    await(() -> ((TcpListener) server.listening()).connections() == 0);
    await(() -> budget.inUseBytes() == 0 && server.runningStreams() == 0);
    server.close().then(tier.close()).block(PATIENCE);
    arena.close();
    timers.dispose();
    loops.disposeLater(Duration.ZERO, PATIENCE).block(PATIENCE);
  }

  private static void await(BooleanSupplier condition) {
    Eventually.holds("the condition holds", condition::getAsBoolean);
  }

  private int port() {
    return ((TcpListener) server.listening()).port();
  }

  private Socket peer(boolean setsUp) throws IOException {
    Socket socket = new Socket(InetAddress.getLoopbackAddress(), port());
    peers.add(socket);
    if (setsUp) {
      ByteBuf setup = SetupFrameCodec.encode(ByteBufAllocator.DEFAULT, false, 20_000, 90_000, Unpooled.EMPTY_BUFFER,
          RequestMetadata.COMPOSITE, ControlCodec.CBOR.mimeType(), DefaultPayload.create(""));
      writeLength(socket, setup.readableBytes());
      socket.getOutputStream().write(ByteBufUtil.getBytes(setup));
      setup.release();
    }
    return socket;
  }

  private static void writeLength(Socket socket, int length) throws IOException {
    socket.getOutputStream().write(new byte[] {(byte) (length >> 16), (byte) (length >> 8), (byte) length});
  }

  /// Sends what the sockets take of all but the last byte of a frame, from a thread that ends with the socket.
  private static void begin(Socket peer, int length) {
    Thread.ofVirtual().start(() -> {
      try {
        writeLength(peer, length);
        peer.getOutputStream().write(new byte[length - 1]);
      } catch (IOException closed) {
        Thread.currentThread().interrupt(); // the node or the test ended it
      }
    });
  }

  /// The slowest of some puts and gets, whose bytes are compared.
  private Duration slowest(int from) {
    long slowest = 0;
    for (int i = 0; i < 8; i++) {
      List<BlockKey> keys = Blocks.keys(SPACE, from + 4 * (i % 4), from + 4 * (i % 4) + 4);
      long began = System.nanoTime();
      good.put(keys, new ProducingSource(arena, SliceShape.Order.LAYER_FIRST,
          (key, range, memory) -> Blocks.fill(key, range.offset(SPACE.layout()), memory))).blockLast(PATIENCE);
      slowest = Math.max(slowest, System.nanoTime() - began);
      began = System.nanoTime();
      Flux.using(BlockScope::new,
          scope -> good.lease(keys, OnMiss.SKIP, scope).flatMapMany(lease -> lease.slices(scope).doOnNext(slice -> {
            slice.spans().forEach(Blocks::assertBytes);
            slice.close();
          })), BlockScope::close).blockLast(PATIENCE);
      slowest = Math.max(slowest, System.nanoTime() - began);
    }
    return Duration.ofNanos(slowest);
  }

  private static long directBytes() {
    return ((ByteBufAllocatorMetricProvider) ByteBufAllocator.DEFAULT).metric().usedDirectMemory();
  }

  @Test
  void afterSetup_theyTakeTheRoom_andNothingOfAGoodClient() throws IOException {
    listen(Duration.ofSeconds(30));
    slowest(0);
    long before = directBytes();
    for (int i = 0; i < PEERS; i++) {
      begin(peer(true), lengths.longest() - i % 3 * 500_000);
    }

    assertThat(slowest(16)).isLessThan(SLOWEST);
    assertThat(slowest(32)).isLessThan(SLOWEST);

    assertThat(directBytes() - before).isLessThan(ROOM_BYTES + BUDGET_BYTES + (16 << 20));
    assertThat(refusals).isEmpty();
  }

  @Test
  void beforeSetup_theirFramesAreShort() throws IOException {
    listen(Duration.ofSeconds(30));
    slowest(0);
    long before = directBytes();
    for (int i = 0; i < PEERS; i++) {
      begin(peer(false), i % 2 == 0 ? 64 << 10 : lengths.longest());
    }

    assertThat(slowest(16)).isLessThan(SLOWEST);

    await(() -> refusals.size() == PEERS / 2);
    assertThat(refusals).containsOnly(Refusal.FRAME_LENGTH);
    assertThat(directBytes() - before).isLessThan(ROOM_BYTES + BUDGET_BYTES + (16 << 20));
  }

  @Test
  void framesThatStandStill_endTheirConnections_andNoOther() throws IOException {
    listen(Duration.ofSeconds(1));
    slowest(0);
    int some = PEERS / 5;
    for (int i = 0; i < some; i++) {
      begin(peer(true), lengths.longest());
    }

    await(() -> refusals.size() == some);

    assertThat(refusals).containsOnly(Refusal.FRAME_TIME, Refusal.ROOM);
    assertThat(slowest(16)).isLessThan(SLOWEST);
  }
}
