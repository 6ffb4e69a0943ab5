package io.penstock.wire;

import static java.util.Objects.requireNonNull;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.penstock.KvException;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockLayout;
import io.penstock.block.BlockScope;
import io.penstock.block.CacheSpace;
import io.penstock.block.Plane.ElementType;
import io.penstock.block.SlabArena;
import io.penstock.block.SliceShape;
import io.penstock.flow.ProducingSource;
import io.penstock.testkit.Blocks;
import io.penstock.testkit.LeakLedger;
import io.penstock.tier.ByteBudget;
import io.penstock.tier.OnMiss;
import io.penstock.tier.Presence;
import io.penstock.wire.client.KvClient;
import io.penstock.wire.client.KvClientOptions;
import io.penstock.wire.client.get.GetReceiver;
import io.penstock.wire.client.get.GetSetting;
import io.penstock.wire.client.link.AnswerLimits;
import io.penstock.wire.protocol.ControlCodec;
import io.penstock.wire.protocol.ErrorCode;
import io.penstock.wire.protocol.Handshake;
import io.penstock.wire.protocol.Messages;
import io.penstock.wire.protocol.PutMessages;
import io.penstock.wire.protocol.RequestMetadata;
import io.penstock.wire.protocol.Routes;
import io.penstock.wire.protocol.WireFailure.ConnectionLostException;
import io.penstock.wire.protocol.WireFailure.RemotePermanentException;
import io.penstock.wire.protocol.WireFailure.RemoteTransientException;
import io.penstock.wire.protocol.WireFormatException;
import io.penstock.wire.slice.LandedSlice;
import io.rsocket.Payload;
import io.rsocket.RSocket;
import io.rsocket.SocketAcceptor;
import io.rsocket.core.RSocketServer;
import io.rsocket.exceptions.CustomRSocketException;
import io.rsocket.frame.decoder.PayloadDecoder;
import io.rsocket.transport.ClientTransport;
import io.rsocket.transport.netty.client.TcpClientTransport;
import io.rsocket.transport.netty.server.CloseableChannel;
import io.rsocket.transport.netty.server.TcpServerTransport;
import io.rsocket.util.ByteBufPayload;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.reactivestreams.Publisher;
import org.reactivestreams.Subscription;
import reactor.core.publisher.BaseSubscriber;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Operators;

/// A server that lies, over real sockets: whatever it says, its client hears a typed error, gets no wrong byte, and
/// leaks nothing.
@Timeout(60)
final class HostileServerTest {
  private static final BlockLayout LAYOUT = BlockLayout.attention(4, 16, 2, 16, ElementType.BF16);
  private static final CacheSpace SPACE = CacheSpace.of("hostile", LAYOUT);
  private static final int KEYS = 6;
  private static final int WINDOW = 3;
  private static final List<BlockKey> ALL = Blocks.keys(SPACE, 0, KEYS);
  private static final SliceStream HONEST = new SliceStream(SPACE, WINDOW, 0, 4096, SliceShape.Order.LAYER_FIRST);

  private final LeakLedger leaks = new LeakLedger();
  private final SlabArena arena = leaks.watch(new SlabArena("client", LAYOUT, 2 * KEYS, 8));
  private final ByteBudget budget = leaks.watch(new ByteBudget("client", 16 * 4096, 8));
  private final Lies lies = new Lies();
  private CloseableChannel server;
  private @Nullable KvClient client;

  /// What the server answers; each test sets what it lies about.
  private static final class Lies implements RSocket {
    private Object welcome =
        new Handshake.Welcome(1, "server", "node", "tier", Handshake.Space.of(SPACE), 4096, WINDOW, 100, 64L, null);
    private Object reply = new Messages.MatchReply(0);
    private List<byte[]> stream = List.of();
    private @Nullable Throwable failure;
    private boolean ends;
    /// Ends each request but the handshake without a reply.
    private boolean isMute;

    @Override
    public Mono<Payload> requestResponse(Payload payload) {
      boolean hello = RequestMetadata.read(payload.sliceMetadata(), "").route().equals(Routes.HELLO);
      payload.release();
      if (!hello && isMute) {
        return Mono.empty();
      }
      return !hello && failure != null
          ? Mono.error(failure)
          : Mono.fromSupplier(() -> ByteBufPayload.create(bytes(hello ? welcome : reply)));
    }

    @Override
    public Flux<Payload> requestStream(Payload payload) {
      payload.release();
      return Flux.fromIterable(stream).map(ByteBufPayload::create);
    }

    @Override
    public Flux<Payload> requestChannel(Publisher<Payload> payloads) {
      return Flux.fromIterable(stream).map(ByteBufPayload::create).cast(Payload.class)
          .concatWith(ends ? Mono.empty() : Mono.never())
          .doOnSubscribe(subscription -> Flux.from(payloads).subscribe(new BaseSubscriber<>() {
            @Override
            protected void hookOnSubscribe(Subscription slices) {
              slices.request(ends ? 2 : Long.MAX_VALUE); // the open message, and a slice of many
            }

            @Override
            protected void hookOnNext(Payload payload) {
              payload.release();
            }

            @Override
            protected void hookOnError(Throwable error) {}
          }));
    }
  }

  private static byte[] bytes(Object message) {
    if (message instanceof byte[] raw) {
      return raw;
    }
    var data = ControlCodec.CBOR.encode(message, UnpooledByteBufAllocator.DEFAULT);
    byte[] bytes = new byte[data.readableBytes()];
    data.readBytes(bytes).release();
    return bytes;
  }

  @BeforeEach
  void listen() {
    server = RSocketServer.create(SocketAcceptor.with(lies)).payloadDecoder(PayloadDecoder.ZERO_COPY)
        .bind(TcpServerTransport.create("127.0.0.1", 0)).block(WireNode.PATIENCE);
  }

  @AfterEach
  void nothingLeaks() {
    if (client != null) {
      client.close().block(WireNode.PATIENCE);
    }
    server.dispose();
    leaks.close();
  }

  private KvClient connect() {
    KvClient connected = KvClient.connect(TcpClientTransport.create(server.address()),
        KvClientOptions.builder().maxSliceBytes(4096).windowBlocks(WINDOW).build(), SPACE, arena, budget)
        .block(WireNode.PATIENCE);
    client = connected;
    return connected;
  }

  private static Messages.Bits bits(int size, int... set) {
    BitSet bits = new BitSet();
    IntStream.of(set).forEach(bits::set);
    return Messages.Bits.of(Presence.of(size, bits));
  }

  private static Messages.Found found(Messages.Bits found) {
    return new Messages.Found(found, found, bits(found.size()), bits(found.size()));
  }

  private void assertGetFails(String says, List<byte[]> stream) {
    lies.stream = stream;
    KvException e = assertThrows(KvException.class, () -> Flux.using(BlockScope::new,
        scope -> connect().lease(ALL, OnMiss.AWAIT, scope).flatMapMany(lease -> lease.slices(scope)).doOnNext(slice -> {
          slice.spans().forEach(Blocks::assertBytes);
          slice.close();
        }), BlockScope::close).blockLast(WireNode.PATIENCE), says);
    assertTrue(String.valueOf(e.getMessage()).contains(says), "must say " + says + " (was " + e + ")");
    client.close().block(WireNode.PATIENCE);
    leaks.awaitEmpty(LeakLedger.PATIENCE);
  }

  private static List<byte[]> after(Object decision, List<byte[]> slices) {
    List<byte[]> stream = new ArrayList<>();
    stream.add(bytes(decision));
    stream.addAll(slices);
    return stream;
  }

  private static List<Integer> positions(int... positions) {
    return IntStream.of(positions).boxed().toList();
  }

  @Test
  void endInsteadOfAReply_isATypedError_alsoForLookUpsThatShareARequest() {
    lies.isMute = true;
    for (ClientTransport transport : List.of(TcpClientTransport.create(server.address()),
        Link.PENSTOCK.client(server.address().getPort()))) {
      KvClient connected = requireNonNull(KvClient.connect(transport,
          KvClientOptions.builder().maxSliceBytes(4096).windowBlocks(WINDOW).build(), SPACE, arena, budget)
          .block(WireNode.PATIENCE));
      for (Mono<?> question : List.of(connected.match(ALL), connected.contains(ALL))) {
        KvException e = assertThrows(KvException.class, () -> question.block(WireNode.PATIENCE));
        assertTrue(String.valueOf(e.getMessage()).contains("reply"), e::toString);
      }
      connected.close().block(WireNode.PATIENCE);
    }
  }

  @Test
  void welcome_thatCannotBe_isRefused() {
    Handshake.Space space = Handshake.Space.of(SPACE);
    Handshake.Space another = Handshake.Space.of(CacheSpace.of("another", LAYOUT));
    List<Object> bad = List.of(new Handshake.Welcome(2, "s", "n", "t", space, 4096, 4, 4, null, null),
        new Handshake.Welcome(1, "s", "n", "t", another, 4096, 4, 4, null, null), new byte[0], new byte[] {(byte) 0xBF},
        new Messages.MatchReply(1),
        Map.of("version", 1, "server", "s", "node", "n", "tier", "t", "space", space, "maxSliceBytes", -1,
            "windowBlocks", 4,
            "maxKeys", 4),
        Map.of("version", 1, "server", "s", "node", "n", "tier", "t", "maxSliceBytes", 4096, "windowBlocks", 4,
            "maxKeys", 4));
    for (Object welcome : bad) {
      lies.welcome = welcome;
      assertThrows(WireFormatException.class, this::connect, () -> "" + welcome);
    }
  }

  @Test
  void replies_thatCannotBe_areRefused() {
    KvClient connected = connect();
    List<BlockKey> keys = ALL;
    for (Object reply : List.of(new Messages.MatchReply(-1), new Messages.MatchReply(KEYS + 1), new byte[] {1, 2, 3})) {
      lies.reply = reply;
      assertThrows(WireFormatException.class, () -> connected.match(keys).block(WireNode.PATIENCE));
    }
    for (Object reply : List.of(bits(KEYS - 1), bits(KEYS + 1), Map.of("size", -1, "bits", new byte[0]),
        Map.of("size", KEYS, "bits", new byte[] {-1}), Map.of("size", KEYS))) {
      lies.reply = reply;
      assertThrows(WireFormatException.class, () -> connected.contains(keys).block(WireNode.PATIENCE));
      assertThrows(WireFormatException.class, () -> connected.remove(keys).block(WireNode.PATIENCE));
    }
    lies.reply = new Messages.MatchReply(1);
    assertThrows(WireFormatException.class, () -> connected.stat().block(WireNode.PATIENCE));
  }

  @Test
  void errors_ofAnySize_areTypedAndShort() {
    KvClient connected = connect();
    lies.failure = new CustomRSocketException(ErrorCode.TRANSIENT.code(), "x".repeat(1 << 20));
    RemoteTransientException e =
        assertThrows(RemoteTransientException.class, () -> connected.match(ALL).block(WireNode.PATIENCE));
    assertTrue(String.valueOf(e.getMessage()).length() < 2000);
    lies.failure = new CustomRSocketException(0x1FFF, "unknown");
    assertEquals(0x1FFF,
        assertThrows(RemotePermanentException.class, () -> connected.match(ALL).block(WireNode.PATIENCE)).code());
  }

  @Test
  void decision_thatIsNotOnTheKeysAsked_isRefused() {
    assertGetFails("hits.size", after(found(bits(KEYS + 1)), List.of()));
    assertGetFails("awaited.size", after(new Messages.Found(bits(KEYS), bits(KEYS), bits(KEYS), bits(1)), List.of()));
    assertGetFails("message must be readable", after(new byte[] {0}, List.of()));
    assertGetFails("decision", List.of());
  }

  @Test
  void slices_thatWereNotPromised_areRefused() {
    List<byte[]> all = HONEST.of(ALL, positions(0, 1, 2, 3, 4, 5));
    assertGetFails("leased", after(found(bits(KEYS, 0, 1, 2, 3, 4)), all));
    assertGetFails("sent before",
        after(found(bits(KEYS, 0, 1, 2, 3, 4, 5)), HONEST.of(ALL, positions(0, 1, 2, 0, 4, 5))));
    assertGetFails("window", after(found(bits(KEYS, 0, 1, 2, 3, 4, 5)), all.subList(all.size() / 2, all.size())));
    List<byte[]> twice = new ArrayList<>(all);
    twice.add(1, all.getFirst());
    assertGetFails("remaining", after(found(bits(KEYS, 0, 1, 2, 3, 4, 5)), twice));
    assertGetFails("granules missing", after(found(bits(KEYS, 0, 1, 2, 3, 4, 5)), all.subList(0, all.size() / 2)));
    assertGetFails("granules missing", after(found(bits(KEYS, 0, 1, 2, 3, 4, 5)), all.subList(0, 3)));
    SliceStream late = new SliceStream(SPACE, WINDOW, 2, 4096, SliceShape.Order.LAYER_FIRST);
    assertGetFails("granules missing", after(found(bits(KEYS, 0, 1, 2)), late.of(ALL, positions(0, 1, 2))));
  }

  @Test
  void slices_withoutCredit_areRefused() {
    byte[] decision = bytes(found(bits(KEYS, 0, 1, 2, 3, 4, 5)));
    List<byte[]> slices = HONEST.of(ALL, positions(0, 1, 2, 3, 4, 5));
    List<ByteBuf> buffers = new ArrayList<>();
    List<Throwable> failures = new ArrayList<>();
    GetReceiver receiver =
        new GetReceiver(new GetSetting(arena, SPACE.id(), budget.permits(), 4096, WINDOW, 4, 0,
            SliceShape.Order.LAYER_FIRST, OnMiss.SKIP, ControlCodec.CBOR,
            AnswerLimits.NONE, "node", error -> error), ALL, (stream, found) -> {},
            failures::add);
    receiver.onSubscribe(Operators.emptySubscription());
    for (byte[] payload : after(decision, slices)) {
      ByteBuf data = Unpooled.buffer().writeBytes(payload);
      buffers.add(data);
      receiver.onNext(ByteBufPayload.create(data));
    }
    buffers.forEach(buffer -> assertEquals(0, buffer.refCnt()));
    assertThrows(WireFormatException.class, () -> Flux.<LandedSlice>from(
        subscriber -> receiver.read(Operators.toCoreSubscriber(subscriber))).blockLast(WireNode.PATIENCE));
    leaks.assertEmpty();
  }

  @Test
  void putSignals_thatCannotBe_areRefused() {
    List<Object> bad =
        List.of(room(0, -1, 1), room(0, KEYS, 1), room(0, 0, WINDOW + 1), room(0, Integer.MAX_VALUE, 2), room(-1, 0, 1),
            stored(-1), stored(KEYS), new byte[] {7}, Map.of(), Map.of("stored", List.of(Map.of("position", 1))));
    for (Object signal : bad) {
      lies.stream = List.of(bytes(signal));
      assertThrows(WireFormatException.class, () -> connect()
          .put(ALL, new ProducingSource(arena, SliceShape.Order.LAYER_FIRST, (key, range, memory) -> {}))
          .blockLast(WireNode.PATIENCE),
          () -> "" + signal);
      client.close().block(WireNode.PATIENCE);
      leaks.awaitEmpty(LeakLedger.PATIENCE);
    }
  }

  @Test
  void put_thatEndsBeforeAllWasAskedFor_isRefused() {
    Object half = new PutMessages.PutSignal(new PutMessages.Room(0, 0, bits(WINDOW)), null);
    Object rest = new PutMessages.PutSignal(new PutMessages.Room(1, WINDOW, bits(WINDOW, 0, 1, 2)), null);
    lies.ends = true;
    for (List<byte[]> signals : List.of(List.<byte[]>of(), List.of(bytes(half)), List.of(bytes(half), bytes(rest)))) {
      lies.stream = signals;
      assertThrows(WireFormatException.class, () -> connect()
          .put(ALL, new ProducingSource(arena, SliceShape.Order.LAYER_FIRST, (key, range, memory) -> {}))
          .blockLast(WireNode.PATIENCE),
          () -> signals.size() + " signals");
      leaks.awaitEmpty(LeakLedger.PATIENCE); // with the connection still there
      client.close().block(WireNode.PATIENCE);
    }
  }

  @Test
  void fragments_endTheConnection() {
    CloseableChannel cutting =
        requireNonNull(RSocketServer.create(SocketAcceptor.with(lies)).payloadDecoder(PayloadDecoder.ZERO_COPY)
            .fragment(64).bind(TcpServerTransport.create("127.0.0.1", 0)).block(WireNode.PATIENCE));
    try {
      assertThrows(ConnectionLostException.class, () -> KvClient.connect(TcpClientTransport.create(cutting.address()),
          KvClientOptions.builder().maxSliceBytes(4096).build(), SPACE, arena, budget).block(WireNode.PATIENCE));
    } finally {
      cutting.dispose();
    }
  }

  /// As maps: the messages themselves refuse to be made.
  private static Object room(int window, int first, int size) {
    return Map.of("room", Map.of("window", window, "first", first, "wanted",
        Map.of("size", size, "bits", new byte[] {1})));
  }

  private static Object stored(int position) {
    return Map.of("stored",
        List.of(Map.of("position", position, "tier", "t", "durability", "VOLATILE", "sequence", 1)));
  }
}
