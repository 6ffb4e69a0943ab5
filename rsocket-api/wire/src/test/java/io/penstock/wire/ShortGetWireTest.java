package io.penstock.wire;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.entry;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.penstock.block.Block;
import io.penstock.block.BlockCorruptException;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockLayout;
import io.penstock.block.BlockScope;
import io.penstock.block.CacheSpace;
import io.penstock.block.EvictionPolicy;
import io.penstock.block.Plane.ElementType;
import io.penstock.block.SlabArena;
import io.penstock.block.SliceShape;
import io.penstock.block.session.SessionId;
import io.penstock.block.session.SessionUse;
import io.penstock.flow.ProducingSource;
import io.penstock.stack.HostTier;
import io.penstock.stack.TierStack;
import io.penstock.stack.shape.StackLevel;
import io.penstock.stack.shape.StackOptions;
import io.penstock.testkit.Blocks;
import io.penstock.testkit.Eventually;
import io.penstock.testkit.LeakLedger;
import io.penstock.testkit.MemoryStore;
import io.penstock.tier.ByteBudget;
import io.penstock.tier.Medium;
import io.penstock.tier.OnMiss;
import io.penstock.tier.TierHolds.LeaseExpiredException;
import io.penstock.tier.TierHolds.LeaseTerms;
import io.penstock.tier.TierHolds.ReadLease;
import io.penstock.tier.TierListener;
import io.penstock.tier.spi.TierInputs;
import io.penstock.wire.client.KvClient;
import io.penstock.wire.client.KvClientOptions;
import io.penstock.wire.client.get.RemoteLease;
import io.penstock.wire.protocol.Carrier;
import io.penstock.wire.protocol.ControlCodec;
import io.penstock.wire.protocol.ErrorCode;
import io.penstock.wire.protocol.Handshake;
import io.penstock.wire.protocol.Limits;
import io.penstock.wire.protocol.Messages;
import io.penstock.wire.protocol.RequestMetadata;
import io.penstock.wire.protocol.Routes;
import io.penstock.wire.protocol.WireErrors;
import io.penstock.wire.protocol.WireFailure.AnswerTimeoutException;
import io.penstock.wire.protocol.WireFailure.DrainingException;
import io.penstock.wire.protocol.WireFailure.RemotePermanentException;
import io.penstock.wire.protocol.WireFailure.RemoteTransientException;
import io.penstock.wire.server.KvServer;
import io.penstock.wire.server.KvServerOptions;
import io.penstock.wire.simulate.LinkPlan;
import io.penstock.wire.simulate.SimulatedLink;
import io.penstock.wire.simulate.SimulatedTime;
import io.penstock.wire.transport.ConnectionListener;
import io.penstock.wire.transport.tcp.BoundTransports;
import io.penstock.wire.transport.tcp.ServerBounds;
import io.penstock.wire.transport.tcp.TcpClientOptions;
import io.penstock.wire.transport.tcp.TcpServerOptions;
import io.penstock.wire.transport.tcp.TcpTransport;
import io.rsocket.Closeable;
import io.rsocket.Payload;
import io.rsocket.RSocket;
import io.rsocket.SocketAcceptor;
import io.rsocket.core.RSocketServer;
import io.rsocket.exceptions.CustomRSocketException;
import io.rsocket.frame.FrameHeaderCodec;
import io.rsocket.frame.FrameType;
import io.rsocket.frame.decoder.PayloadDecoder;
import io.rsocket.transport.ClientTransport;
import io.rsocket.transport.ServerTransport;
import io.rsocket.transport.netty.server.CloseableChannel;
import io.rsocket.transport.netty.server.TcpServerTransport;
import io.rsocket.util.ByteBufPayload;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;
import reactor.netty.resources.LoopResources;

/// Gets that are answered by one slice, between a node and its clients.
@Timeout(120)
final class ShortGetWireTest {
  /// Four blocks are a slice of 4 KiB.
  private static final CacheSpace SPACE =
      new CacheSpace("short", BlockLayout.attention(2, 4, 2, 16, ElementType.BF16), 1, "salt");
  /// Blocks of 128 KiB, which go from the socket straight to their place.
  private static final CacheSpace LONG =
      new CacheSpace("long", BlockLayout.attention(2, 16, 2, 512, ElementType.BF16), 1, "salt");
  private static final int BLOCK = SPACE.layout().blockBytes();
  private static final int WINDOW = 4;
  private static final int LONG_SLICE = 1 << 20;
  private static final Duration PATIENCE = WireNode.PATIENCE;

  @TempDir
  Path folder;

  private final RecordedSession sent = new RecordedSession();

  /// WebSocket on the loopback interface.
  private record WebSocketLink(LoopResources loops) implements LinkEnds {
    @Override
    public ServerTransport<? extends Closeable> server(int port) {
      TcpServerOptions options = LinkEnds.patient(TcpServerOptions.on("127.0.0.1", port));
      return BoundTransports.of(List.of(requireNonNull(TcpTransport
          .bindWebSocket(options, Set.of(), ServerBounds.of(options), loops, ConnectionListener.noop())
          .block(PATIENCE))));
    }

    @Override
    public int port(KvServer server) {
      return ((BoundTransports.Listening) server.listening()).listeners().getFirst().port();
    }

    @Override
    public ClientTransport client(int port) {
      return TcpTransport.webSocketClient(TcpClientOptions.to("127.0.0.1", port), loops, ConnectionListener.noop());
    }
  }

  private enum Way {
    STOCK,
    TCP,
    UNIX,
    WEB_SOCKET;

    private LinkEnds link(Path folder) {
      return switch (this) {
        case STOCK -> Link.STOCK;
        case TCP -> Link.PENSTOCK;
        case UNIX -> new UnixLink(folder);
        case WEB_SOCKET -> new WebSocketLink(LoopResources.create("ws-test", 1, 2, true));
      };
    }
  }

  private static <T> T value(Mono<T> mono) {
    return requireNonNull(mono.block(PATIENCE));
  }

  private static WireNode node(LinkEnds link) {
    return WireNode.of(link, SPACE, WINDOW);
  }

  private static WireNode longNode() {
    return new WireNode(Link.PENSTOCK, LONG, 32, StackOptions.defaults("dram").withIngressBlocks(4 * WINDOW),
        KvServerOptions.defaults().withLimits(new Limits(LONG_SLICE, WINDOW, 256)), 8L * LONG_SLICE,
        Schedulers.newSingle("timers", true));
  }

  private static KvClientOptions.Builder longOptions() {
    return KvClientOptions.builder().maxSliceBytes(LONG_SLICE).windowBlocks(WINDOW);
  }

  /// A client whose requests are recorded.
  private KvClient client(WireNode node) {
    return node.client(sent.recording(node.transport()), WireNode.clientOptions(WINDOW), node.arena(64),
        node.budget(64));
  }

  /// How the gets were asked for, in their order.
  private List<FrameType> gets() {
    List<FrameType> types = new ArrayList<>();
    for (byte[] bytes : sent.frames()) {
      ByteBuf frame = Unpooled.wrappedBuffer(bytes);
      FrameType type = FrameHeaderCodec.frameType(frame);
      if (new String(bytes, StandardCharsets.ISO_8859_1).contains(Routes.GET)) {
        types.add(type);
      }
    }
    return types;
  }

  /// Positions of the blocks that were found, each read and compared.
  private static Mono<List<Integer>> read(Mono<RemoteLease> leased, List<BlockKey> keys, BlockScope scope) {
    return leased.flatMapMany(lease -> lease.windows(3, scope).concatMapIterable(blocks -> blocks).doOnNext(read -> {
      assertThat(read.block().key()).isEqualTo(keys.get(read.position()));
      assertThat(lease.found().bits().get(read.position())).isTrue();
      Blocks.assertBytes(read.block());
      read.block().close();
    }).map(read -> read.position())).collectList();
  }

  private static Mono<List<Integer>> read(KvClient client, List<BlockKey> keys) {
    return Mono.using(BlockScope::new,
        scope -> read(client.lease(keys, OnMiss.SKIP, scope), keys, scope), BlockScope::close);
  }

  @ParameterizedTest
  @EnumSource
  void blocks_comeInOneAnswer_andMissesAreLeftOut(Way way) {
    try (WireNode node = node(way.link(folder))) {
      KvClient client = node.client(sent.recording(node.transport()),
          WireNode.asking(WINDOW).carriers(Carrier.INLINE).build(), node.arena(64), node.budget(64));
      node.put(client, List.of(node.keys(0, 1).getFirst(), node.keys(2, 3).getFirst()));

      assertThat(value(read(client, node.keys(0, 4)))).containsExactly(0, 2);
      assertThat(value(read(client, node.keys(4, 8)))).isEmpty();
      assertThat(value(node.get(client, node.keys(0, 4), OnMiss.SKIP))).isEqualTo(2L * BLOCK);

      assertThat(gets()).hasSize(3).containsOnly(FrameType.REQUEST_RESPONSE);
      try (BlockScope scope = new BlockScope()) {
        RemoteLease lease = value(client.lease(node.keys(0, 3), OnMiss.SKIP, scope));
        lease.close();
        lease.drained().block(PATIENCE);
      }
      assertThat(node.server.runningStreams()).isZero();
      node.requireHonestTier(node.keys(0, 8));
    }
  }

  @Test
  void blocksInSharedMemory_areReferences_whichNeedAStream() {
    try (WireNode node = node(Link.SHARED_MEMORY)) {
      KvClient client = node.client(WINDOW);
      List<BlockKey> keys = node.stored(client, 3);
      assertThat(client.incomingCarrier()).isEqualTo(Carrier.SHARED_MEMORY);

      assertThat(value(read(client, keys))).containsExactly(0, 1, 2);

      assertThat(client.carried().in()).containsExactly(entry(Carrier.SHARED_MEMORY, 3L * BLOCK));
    }
  }

  @Test
  void moreThanAWindow_orAWait_isAStream() {
    try (WireNode node = node(Link.PENSTOCK)) {
      KvClient client = client(node);
      List<BlockKey> keys = node.stored(client, 6);

      assertThat(value(read(client, keys))).hasSize(6);
      assertThat(value(node.get(client, keys.subList(0, 2), OnMiss.AWAIT))).isEqualTo(2L * BLOCK);

      assertThat(gets()).hasSize(2).containsOnly(FrameType.REQUEST_STREAM);
    }
  }

  @Test
  void blockFirstOrder_andAFirstLayer_areAnsweredToo() {
    try (WireNode node = node(Link.PENSTOCK)) {
      node.stored(node.client(WINDOW), 4);
      for (int layer : new int[] {0, 1}) {
        KvClient client = node.client(sent.recording(node.transport()),
            WireNode.asking(2 * WINDOW).order(SliceShape.Order.BLOCK_FIRST).startLayer(layer).build(), node.arena(64),
            node.budget(64));
        assertThat(value(node.get(client, node.keys(0, 4), OnMiss.SKIP))).isEqualTo(4L * BLOCK * (2 - layer) / 2);
      }
      assertThat(gets()).hasSize(2).containsOnly(FrameType.REQUEST_RESPONSE);
    }
  }

  /// A tier whose windows are smaller the less memory it has.
  private static WireNode boundedNode() {
    return new WireNode(Link.PENSTOCK, SPACE, 64,
        StackOptions.defaults("dram").withIngressBlocks(4 * WINDOW).withExact(false)
            .withPolicy(EvictionPolicy.SESSIONS),
        WireNode.options(WINDOW), 8 * WireNode.SLICE_BYTES, Schedulers.newSingle("timers", true));
  }

  @Test
  void nodeWhoseWindowsAreSmaller_givesAStreamInstead() {
    try (WireNode node = boundedNode()) {
      KvClient client = client(node);
      List<BlockKey> keys = node.stored(client, 4);

      assertThat(value(read(client, keys))).hasSize(4);
      for (int i = 0; i < 2; i++) { // after a refusal the next get is a stream at once
        assertThat(value(read(client, keys.subList(0, 2)))).hasSize(2);
      }

      assertThat(gets()).containsExactly(FrameType.REQUEST_RESPONSE, FrameType.REQUEST_STREAM,
          FrameType.REQUEST_STREAM, FrameType.REQUEST_RESPONSE);
    }
  }

  @Test
  void session_makesItsBlocksStay_andAReadLeaseCounts() {
    try (WireNode node = boundedNode()) {
      KvClient client = client(node);
      List<BlockKey> keys = node.stored(client, 2);
      SessionUse agent = new SessionUse(SessionId.of("agent"), 5, Duration.ofMinutes(5));
      try (BlockScope scope = new BlockScope()) {
        assertThat(value(read(client.lease(keys, OnMiss.SKIP, agent, scope), keys, scope))).hasSize(2);
      }
      node.put(client, node.keys(1_000, 1_060));
      node.put(client, node.keys(2_000, 2_060));
      assertThat(value(client.match(keys))).as("the session keeps them").isEqualTo(2);

      List<BlockKey> others = node.keys(2_058, 2_060);
      ReadLease lease = value(client.holds().lease(others, LeaseTerms.defaults().withLife(Duration.ofMinutes(5))));
      assertThat(lease.leased().count()).isEqualTo(2);
      node.put(client, node.keys(3_000, 3_060));
      node.put(client, node.keys(4_000, 4_060));
      try (BlockScope scope = new BlockScope()) {
        assertThat(value(read(client.holds().read(lease.id(), others, scope).cast(RemoteLease.class), others, scope)))
            .as("the lease keeps them").hasSize(2);
      }
      assertThat(value(client.holds().release(lease.id()))).isTrue();
      try (BlockScope scope = new BlockScope()) {
        assertThatThrownBy(() -> client.holds().read(lease.id(), others, scope).block(PATIENCE))
            .isInstanceOfSatisfying(LeaseExpiredException.class, e -> assertThat(e.id()).isEqualTo(lease.id()));
      }
      assertThat(gets()).hasSize(3).containsOnly(FrameType.REQUEST_RESPONSE);
    }
  }

  /// Blocks that have left memory are read from a store.
  @Test
  void blocksOnDisk_comeInOneAnswer() {
    MemoryStore disk = new MemoryStore("ssd", Medium.DISK, SPACE, 1000, Runnable::run);
    TierStack tier = new TierStack(SPACE, List.of(new StackLevel.Host("dram", 8), new StackLevel.Stored(disk, 1000)),
        StackOptions.defaults("stack").withIngressBlocks(8), TierListener.noop(), TierInputs.of(Link.PENSTOCK.chunks()),
        StackOptions.Sampling.none());
    KvServer server = value(KvServer.bind(Link.PENSTOCK.server(), tier, WireNode.options(WINDOW),
        new ByteBudget("node", 64L * WireNode.SLICE_BYTES, 64), Schedulers.single()));
    try (LeakLedger leaks = new LeakLedger()) {
      SlabArena arena = leaks.watch(new SlabArena("client", SPACE.layout(), 32, 8));
      ByteBudget budget = leaks.watch(new ByteBudget("client", 64L * WireNode.SLICE_BYTES, 64));
      KvClient client = value(KvClient.connect(sent.recording(Link.PENSTOCK.client(Link.PENSTOCK.port(server))),
          WireNode.clientOptions(WINDOW), SPACE, arena, budget));
      List<BlockKey> keys = Blocks.keys(SPACE, 0, 40);
      client.put(keys, new ProducingSource(arena, SliceShape.Order.LAYER_FIRST,
          (key, range, memory) -> Blocks.fill(key, range.offset(SPACE.layout()), memory))).blockLast(PATIENCE);
      Eventually.holds("most are on the disk alone",
          () -> value(tier.stat()).levels().getLast().storedBlocks() >= 32);

      for (int first = 0; first < 40; first += 4) {
        assertThat(value(read(client, keys.subList(first, first + 4)))).as("from %d", first).hasSize(4);
      }

      assertThat(gets()).hasSize(10).containsOnly(FrameType.REQUEST_RESPONSE);
      assertThat(value(tier.stat()).levels().getLast().hits()).isPositive();
      client.close().block(PATIENCE);
    } finally {
      server.close().block(PATIENCE);
      tier.close().block(PATIENCE);
    }
  }

  @Test
  void damagedMemory_isATypedError_andTheNodeFindsItItself() {
    try (WireNode node = node(Link.PENSTOCK)) {
      KvClient client = client(node);
      List<BlockKey> keys = node.stored(client, 3);
      try (BlockScope scope = new BlockScope()) {
        Block block = requireNonNull(node.tier.get(keys.subList(1, 2), scope).blockFirst(PATIENCE));
        Blocks.corrupt(block, 321);
      }
      assertThatThrownBy(() -> read(client, keys).block(PATIENCE)).isInstanceOfSatisfying(BlockCorruptException.class,
          e -> assertThat(e.key()).isEqualTo(keys.get(1)));
      Eventually.holds("the node has compared it", () -> value(client.contains(keys)).count() == 2);
      assertThat(value(read(client, keys))).containsExactly(0, 2);
      assertThat(gets()).containsExactly(FrameType.REQUEST_RESPONSE, FrameType.REQUEST_STREAM,
          FrameType.REQUEST_RESPONSE);
    }
  }

  @Test
  void nodeThatDrains_refusesIt() {
    try (WireNode node = node(Link.PENSTOCK)) {
      KvClient client = client(node);
      List<BlockKey> keys = node.stored(client, 3);
      node.server.drain();
      assertThatThrownBy(() -> read(client, keys).block(PATIENCE)).isInstanceOf(DrainingException.class);
      node.server.drained().block(PATIENCE);
      assertThat(gets()).containsExactly(FrameType.REQUEST_RESPONSE);
    }
  }

  private static Messages.GetRequest request(List<BlockKey> keys, OnMiss onMiss, byte @Nullable [] proof,
      Messages.@Nullable View view, @Nullable String request) {
    return new Messages.GetRequest(Messages.Keys.of(SPACE.id(), keys), onMiss.name(), "LAYER_FIRST", 0,
        WireNode.SLICE_BYTES, WINDOW, 0, null, proof, true, view, request, null);
  }

  private static void assertRefused(RSocket socket, ControlCodec codec, Messages.GetRequest request, ErrorCode code,
      String says) {
    assertThatThrownBy(() -> socket.requestResponse(WireNode.request(codec, Routes.GET, request))
        .onErrorMap(error -> WireErrors.fromWire(error, "node")).block(PATIENCE))
        .isInstanceOfSatisfying(RemotePermanentException.class, e -> {
          assertThat(e.code()).isEqualTo(code.code());
          assertThat(e).hasMessageContaining(says);
        });
  }

  /// What another client may send.
  @ParameterizedTest
  @EnumSource
  void node_answersWhatCanHaveOneAnswer_andRefusesAllElse(ControlCodec codec) {
    try (WireNode node = node(Link.STOCK)) {
      node.stored(node.client(WINDOW), 6);
      RSocket socket = node.raw(codec.mimeType());
      for (int count : new int[] {0, 1, 4}) {
        Payload answer = value(socket.requestResponse(WireNode.request(codec, Routes.GET,
            request(node.keys(0, count), OnMiss.SKIP, null, null, null))));
        assertThat(answer.data().readableBytes()).isEqualTo(count == 0 ? 0 : 72 + 4 * count * 5 + count * BLOCK);
        answer.release();
      }
      assertRefused(socket, codec, request(node.keys(0, 5), OnMiss.SKIP, null, null, null), ErrorCode.LIMIT_EXCEEDED,
          "blocks in one answer must be <= 4 (was 5)");
      for (OnMiss onMiss : List.of(OnMiss.AWAIT, OnMiss.ADMIT)) {
        assertRefused(socket, codec, request(node.keys(0, 1), onMiss, null, null, null), ErrorCode.BAD_REQUEST,
            "onMiss must be SKIP in a get with one answer");
      }
      for (Messages.GetRequest request : List.of(request(node.keys(0, 1), OnMiss.SKIP, new byte[16], null, null),
          request(node.keys(0, 1), OnMiss.SKIP, null, new Messages.View(0, 1, 0, 1, 0, 1), null),
          request(node.keys(0, 1), OnMiss.SKIP, null, null, "request"))) {
        assertRefused(socket, codec, request, ErrorCode.BAD_REQUEST,
            "view, request and proof must be absent in a get with one answer");
      }
      assertRefused(socket, codec, request(node.keys(0, 257), OnMiss.SKIP, null, null, null),
          ErrorCode.LIMIT_EXCEEDED, "keys");
      Payload noMessage = ByteBufPayload.create(Unpooled.wrappedBuffer(new byte[] {0}),
          RequestMetadata.write(Routes.GET, UnpooledByteBufAllocator.DEFAULT));
      assertThatThrownBy(() -> socket.requestResponse(noMessage)
          .onErrorMap(error -> WireErrors.fromWire(error, "node")).block(PATIENCE))
          .isInstanceOf(RemotePermanentException.class);
      assertThat(node.server.runningStreams()).isZero();
    }
  }

  /// A node that answers `hello`, and refuses each get.
  private static final class Refusing implements RSocket {
    private final List<String> asked = new CopyOnWriteArrayList<>();
    private final Handshake.Welcome welcome;

    Refusing(@Nullable List<String> features) {
      this.welcome = new Handshake.Welcome(1, "1", "node", "tier", Handshake.Space.of(SPACE), WireNode.SLICE_BYTES,
          WINDOW, 100, 64L, null, null, null, null, features, null);
    }

    @Override
    public Mono<Payload> requestResponse(Payload payload) {
      boolean hello = RequestMetadata.read(payload.sliceMetadata(), "").route().equals(Routes.HELLO);
      payload.release();
      if (hello) {
        return Mono.fromSupplier(
            () -> ByteBufPayload.create(ControlCodec.CBOR.encode(welcome, UnpooledByteBufAllocator.DEFAULT)));
      }
      asked.add("request");
      return Mono.error(new CustomRSocketException(ErrorCode.TRANSIENT.code(), "not now"));
    }

    @Override
    public Flux<Payload> requestStream(Payload payload) {
      payload.release();
      asked.add("stream");
      return Flux.error(new CustomRSocketException(ErrorCode.TRANSIENT.code(), "not now"));
    }
  }

  private static List<String> asked(@Nullable List<String> features) {
    Refusing node = new Refusing(features);
    CloseableChannel server =
        value(RSocketServer.create(SocketAcceptor.with(node)).payloadDecoder(PayloadDecoder.ZERO_COPY)
            .bind(TcpServerTransport.create("127.0.0.1", 0)));
    try (LeakLedger leaks = new LeakLedger()) {
      KvClient client = value(KvClient.connect(Link.PENSTOCK.client(server.address().getPort()),
          WireNode.clientOptions(WINDOW), SPACE, leaks.watch(new SlabArena("client", SPACE.layout(), 32, 8)),
          leaks.watch(new ByteBudget("client", 64L * WireNode.SLICE_BYTES, 64))));
      assertThatThrownBy(() -> read(client, Blocks.keys(SPACE, 0, 1)).block(PATIENCE))
          .isInstanceOf(RemoteTransientException.class);
      client.close().block(PATIENCE);
    } finally {
      server.dispose();
    }
    return node.asked;
  }

  @Test
  void onlyNodesThatSayTheWord_areAskedForOneAnswer() {
    assertThat(asked(null)).as("of an earlier release").containsExactly("stream");
    assertThat(asked(List.of(Handshake.VIEWS, Handshake.GRANULE_CHECKSUMS))).containsExactly("stream");
    assertThat(asked(List.of("more", "short-gets"))).containsExactly("request");
  }

  @Test
  void longBlocks_landInPlace_howeverTheirBytesAreCut() {
    try (WireNode node = longNode()) {
      node.put(node.client(longOptions().build(), node.arena(64), node.budget(4096)), node.keys(0, 4));
      for (int seed = 0; seed < 8; seed++) {
        try (Relay relay = Relay.cutting(node.port(), seed)) {
          KvClient client = node.client(sent.recording(Link.PENSTOCK.client(relay.port())), longOptions().build(),
              node.arena(64), node.budget(4096));
          for (int count = 1; count <= 5; count++) {
            assertThat(value(read(client, node.keys(0, count)))).as("seed %d", seed).hasSize(Math.min(4, count));
          }
          client.close().block(PATIENCE);
        }
      }
      assertThat(gets()).hasSize(40).contains(FrameType.REQUEST_RESPONSE);
      assertThat(gets().stream().filter(type -> type == FrameType.REQUEST_RESPONSE)).hasSize(32);
    }
  }

  /// A bit that flips behind the checks of the socket is found by the checksums of the bytes that came.
  @Test
  void bitThatFlipsOnItsWayToItsPlace_isFound() {
    try (WireNode node = longNode()) {
      node.put(node.client(longOptions().build(), node.arena(64), node.budget(4096)), node.keys(0, 2));
      try (Relay relay = Relay.to(node.port(), new Relay.Fault(true, 200_000, true))) {
        KvClient client = node.client(Link.PENSTOCK.client(relay.port()), longOptions().build(), node.arena(64),
            node.budget(4096));
        assertThatThrownBy(() -> read(client, node.keys(0, 2)).block(PATIENCE))
            .isInstanceOf(BlockCorruptException.class);
        assertThat(value(read(client, node.keys(0, 2)))).as("the node has the right bytes").containsExactly(0, 1);
      }
    }
  }

  @Test
  void cancel_inTheMidstOfAnAnswer_givesItsPlaceBackAtOnce_andTheConnectionGoesOn() {
    try (WireNode node = longNode()) {
      node.put(node.client(longOptions().build(), node.arena(64), node.budget(4096)), node.keys(0, 4));
      try (Relay relay = Relay.to(node.port(), Relay.Fault.none(), true)) {
        SlabArena arena = node.arena(64);
        ByteBudget budget = node.budget(4096);
        KvClient client = node.client(Link.PENSTOCK.client(relay.port()), longOptions().build(), arena, budget);
        Disposable get = read(client, node.keys(0, 4)).subscribe();
        Eventually.holds("bytes are there", () -> relay.bytesTowardsClient() > 64 << 10);
        assertThat(arena.claimedSlots()).isEqualTo(4);

        get.dispose();

        Eventually.holds("all is given back", () -> arena.claimedSlots() == 0 && budget.inUseBytes() == 0);
        relay.flow();
        assertThat(value(read(client, node.keys(0, 4)))).hasSize(4);
      }
    }
  }

  /// Gets that are cancelled at any moment, some of them while their bytes go to their place.
  @Test
  void cancels_byThousands_leakNothing() {
    cancels(node(Link.PENSTOCK), 2_000, node -> node.client(WINDOW));
    cancels(longNode(), 500, node -> node.client(longOptions().build(), node.arena(64), node.budget(4096)));
  }

  private static void cancels(WireNode opened, int runs, Function<WireNode, KvClient> connecting) {
    try (WireNode node = opened) {
      KvClient client = connecting.apply(node);
      List<BlockKey> keys = node.stored(client, 4);
      AtomicInteger whole = new AtomicInteger();
      for (int run = 0; run < runs; run++) {
        SplittableRandom random = new SplittableRandom(run);
        BlockScope scope = new BlockScope();
        if (run % 10 == 0) { // unread
          value(client.lease(keys, OnMiss.SKIP, scope));
        } else {
          Disposable get = read(client.lease(keys, OnMiss.SKIP, scope), keys, scope)
              .subscribe(read -> whole.incrementAndGet());
          for (int spin = random.nextInt(4_000); spin > 0; spin--) {
            Thread.onSpinWait();
          }
          get.dispose();
        }
        scope.close();
      }
      assertThat(value(client.match(keys))).as("the node has read all requests before this one").isEqualTo(4);
      node.leaks.awaitEmpty(PATIENCE);
      Eventually.holds("no stream runs", () -> node.server.runningStreams() == 0);
      assertThat(client.unanswered()).isZero();
      node.requireHonestTier(keys);
      assertThat(value(read(client, keys))).hasSize(4);
      assertThat(whole.get()).isLessThan(runs);
    }
  }

  @Test
  void nodeThatIsSilent_endsTheGetInTime_andTheConnectionGoesOn() {
    SimulatedTime time = new SimulatedTime(1);
    HostTier tier = new HostTier(SPACE, 16, TierListener.noop());
    MuteTier mute = new MuteTier(tier);
    try (SimulatedTime.CapturedDefaults defaults = time.captureDefaults(); LeakLedger leaks = new LeakLedger()) {
      assertThat(defaults).isNotNull();
      SimulatedLink link = SimulatedLink.of(time, "link", UnpooledByteBufAllocator.DEFAULT, LinkPlan.quiet());
      KvServer server = now(time, KvServer.bind(link.server(), mute, WireNode.options(WINDOW),
          leaks.watch(new ByteBudget("node", 64L * WireNode.SLICE_BYTES, 64)), time.scheduler()));
      KvClient client = now(time, KvClient.connect(link.client(),
          WireNode.asking(WINDOW).answerTimeout(Duration.ofSeconds(2)).build(), SPACE,
          leaks.watch(new SlabArena("client", SPACE.layout(), 32, 8)),
          leaks.watch(new ByteBudget("client", 64L * WireNode.SLICE_BYTES, 64))));
      List<BlockKey> keys = Blocks.keys(SPACE, 0, 3);
      long began = time.nanos();

      assertThatThrownBy(() -> now(time, read(client, keys))).isInstanceOf(CompletionException.class)
          .hasCauseInstanceOf(AnswerTimeoutException.class);

      assertThat(Duration.ofNanos(time.nanos() - began)).isBetween(Duration.ofSeconds(2), Duration.ofSeconds(3));
      time.advance(Duration.ofSeconds(1));
      assertThat(server.runningStreams()).isZero();
      leaks.assertEmpty();
      mute.isMute = false;
      assertThat(now(time, read(client, keys))).isEmpty();
      now(time, client.close().thenReturn(true));
      now(time, server.close().thenReturn(true));
    } finally {
      tier.close().block(PATIENCE);
    }
  }

  private static <T> T now(SimulatedTime time, Mono<T> work) {
    CompletableFuture<T> result = work.toFuture();
    assertThat(time.runUntil(result::isDone, Duration.ofMinutes(1))).isTrue();
    return result.join();
  }
}
