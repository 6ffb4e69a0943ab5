package io.penstock.wire;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.penstock.testkit.Blocks;
import io.penstock.wire.protocol.ControlCodec;
import io.penstock.wire.protocol.RequestMetadata;
import io.penstock.wire.transport.CheckedFrames;
import io.penstock.wire.transport.SourceAddress;
import io.penstock.wire.transport.tcp.TcpClientOptions;
import io.penstock.wire.transport.tcp.TcpListener;
import io.penstock.wire.transport.tcp.TcpServerOptions;
import io.penstock.wire.transport.tcp.TcpTransport;
import io.rsocket.DuplexConnection;
import io.rsocket.RSocket;
import io.rsocket.RSocketErrorException;
import io.rsocket.core.RSocketConnector;
import io.rsocket.core.RSocketServer;
import io.rsocket.exceptions.CustomRSocketException;
import io.rsocket.frame.ErrorFrameCodec;
import io.rsocket.frame.FrameHeaderCodec;
import io.rsocket.frame.FrameType;
import io.rsocket.frame.KeepAliveFrameCodec;
import io.rsocket.frame.PayloadFrameCodec;
import io.rsocket.frame.RequestChannelFrameCodec;
import io.rsocket.frame.RequestFireAndForgetFrameCodec;
import io.rsocket.frame.RequestNFrameCodec;
import io.rsocket.frame.RequestResponseFrameCodec;
import io.rsocket.frame.RequestStreamFrameCodec;
import io.rsocket.frame.SetupFrameCodec;
import io.rsocket.util.DefaultPayload;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.function.BiFunction;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.netty.resources.LoopResources;

/// A peer that sends a payload in fragments, which RSocket would put together as long as more come, or wants to be
/// silent for ever, is told so and let go.
@Timeout(60)
final class CheckedFramesTest {
  private static final ByteBufAllocator ALLOC = ByteBufAllocator.DEFAULT;
  private static final int INTERVAL_OFFSET = 10;
  private static final int LIFETIME_OFFSET = 14;
  private static final List<BiFunction<Integer, ByteBuf, ByteBuf>> FRAGMENTS = List.of(
      (stream, data) -> RequestResponseFrameCodec.encode(ALLOC, stream, true, null, data),
      (stream, data) -> RequestFireAndForgetFrameCodec.encode(ALLOC, stream, true, null, data),
      (stream, data) -> RequestStreamFrameCodec.encode(ALLOC, stream, true, 1, null, data),
      (stream, data) -> RequestChannelFrameCodec.encode(ALLOC, stream, true, false, 1, null, data),
      (stream, data) -> PayloadFrameCodec.encode(ALLOC, stream, true, false, true, null, data));

  @ParameterizedTest
  @EnumSource
  void fragment_ofAnyPayload_endsTheConnection(Link link) throws Exception {
    try (WireNode node = WireNode.of(link, Blocks.smallSpace(), 4)) {
      for (var fragment : FRAGMENTS) {
        DuplexConnection peer = requireNonNull(node.transport().connect().block(WireNode.PATIENCE));
        CompletableFuture<String> told =
            peer.receive().filter(frame -> FrameHeaderCodec.frameType(frame) == FrameType.ERROR)
                .map(ErrorFrameCodec::dataUtf8).next().toFuture();
        peer.sendFrame(0, setup());
        peer.sendFrame(1, fragment.apply(1, Unpooled.wrappedBuffer(new byte[256])));

        assertThat(told.get(20, TimeUnit.SECONDS)).contains("payloads must come in one frame each");
        peer.onClose().onErrorComplete().block(WireNode.PATIENCE);
      }
      assertThat(node.put(node.client(4), node.keys(0, 4))).hasSize(4);
    }
  }

  private static ByteBuf bytes(int length) {
    return Unpooled.wrappedBuffer(new byte[length]);
  }

  /// Frames that end with their fields or with their metadata.
  static Stream<ByteBuf> frames() {
    return Stream.of(KeepAliveFrameCodec.encode(ALLOC, false, 0, bytes(0)), RequestNFrameCodec.encode(ALLOC, 5, 1),
        ErrorFrameCodec.encode(ALLOC, 5, new CustomRSocketException(0x1001, "")),
        RequestResponseFrameCodec.encode(ALLOC, 5, false, bytes(9), bytes(0)),
        RequestStreamFrameCodec.encode(ALLOC, 5, false, 1, bytes(9), bytes(0)),
        RequestChannelFrameCodec.encode(ALLOC, 5, false, false, 1, bytes(9), bytes(0)),
        PayloadFrameCodec.encode(ALLOC, 5, false, false, true, bytes(9), bytes(0)));
  }

  /// What RSocket's reader throws in the middle of a stream would look like an error of the stream's own code.
  @ParameterizedTest
  @MethodSource("frames")
  void frameCutAnywhere_endsTheConnection_beforeRSocketReadsIt(ByteBuf frame) {
    assertThat(refusal(frame.copy())).as("the whole frame").isNull();
    for (int length = FrameHeaderCodec.size(); length < frame.readableBytes(); length++) {
      assertThat(refusal(frame.copy(0, length))).as("of " + length + " bytes").contains("frames must be whole");
    }
    frame.release();
  }

  @Test
  void errorWithACodeThatRSocketDoesNotKnow_endsTheConnection() {
    for (int code : new int[] {0x301, 0x1001, 0x2006, 0x7FFFFFFF, 0x80000000, -2, 0x201, 0x204}) {
      assertThat(refusal(error(5, code))).as(Integer.toHexString(code)).isNull();
    }
    for (int code : new int[] {0, 1, 0x101, 0x200, 0x205, 0x300, -1}) {
      assertThat(refusal(error(5, code))).as(Integer.toHexString(code)).contains("errors must have a code");
    }
    for (int code : new int[] {1, 4, 0x101, 0x102}) {
      assertThat(refusal(error(0, code))).as(Integer.toHexString(code)).isNull();
    }
    for (int code : new int[] {0, 5, 0x201, 0x1001}) {
      assertThat(refusal(error(0, code))).as(Integer.toHexString(code)).contains("errors must have a code");
    }
  }

  private static ByteBuf error(int stream, int code) {
    ByteBuf frame = ErrorFrameCodec.encode(ALLOC, stream, new CustomRSocketException(0x1001, "x"));
    return frame.setInt(FrameHeaderCodec.size(), code);
  }

  /// The sentence with which a client ends its connection over `frame`; null if RSocket gets the frame.
  private static @Nullable String refusal(ByteBuf frame) {
    OneFrame connection = new OneFrame(frame);
    List<ByteBuf> passed = new ArrayList<>();
    CheckedFrames.of(connection).receive().doOnNext(passed::add).onErrorComplete().blockLast(WireNode.PATIENCE);
    frame.release();
    assertThat(passed).hasSize(connection.refusal == null ? 1 : 0);
    return connection.refusal;
  }

  private static final class OneFrame implements DuplexConnection {
    private final ByteBuf frame;
    private @Nullable String refusal;

    private OneFrame(ByteBuf frame) {
      this.frame = frame;
    }

    @Override
    public void sendFrame(int stream, ByteBuf sent) {
      sent.release();
    }

    @Override
    public void sendErrorAndClose(RSocketErrorException error) {
      refusal = error.getMessage();
    }

    @Override
    public Flux<ByteBuf> receive() {
      return Flux.just(frame);
    }

    @Override
    public ByteBufAllocator alloc() {
      return ALLOC;
    }

    @Override
    public SocketAddress remoteAddress() {
      return new InetSocketAddress(0);
    }

    @Override
    public Mono<Void> onClose() {
      return Mono.never();
    }

    @Override
    public void dispose() {
      // nothing is open
    }
  }

  @ParameterizedTest
  @EnumSource
  void setup_withTimesThatHoldADeadConnection_isRefused_namingTheRule(Link link) throws Exception {
    try (WireNode node = WireNode.of(link, Blocks.smallSpace(), 4)) {
      for (int lifetime : new int[] {0, -1, Integer.MIN_VALUE, 99, 300_001, Integer.MAX_VALUE}) {
        assertThat(refused(node, 20_000, lifetime))
            .isEqualTo("keep-alive lifetime must be in [100, 300000] ms (was " + lifetime + ")");
      }
      for (int interval : new int[] {0, -1, 99, 90_001, Integer.MAX_VALUE}) {
        assertThat(refused(node, interval, 90_000))
            .isEqualTo("keep-alive interval must be in [100, 90000] ms (was " + interval + ")");
      }
      assertThat(node.put(node.client(4), node.keys(0, 4))).hasSize(4);
    }
  }

  @ParameterizedTest
  @EnumSource
  void setup_cutShortAnywhere_isRefused_namingTheRule(Link link) throws Exception {
    try (WireNode node = WireNode.of(link, Blocks.smallSpace(), 4)) {
      ByteBuf whole = setup();
      int inMimeType = whole.readableBytes() - 5; // of the data, the last thing that must be there
      whole.release();
      for (int length : new int[] {LIFETIME_OFFSET, LIFETIME_OFFSET + Integer.BYTES, inMimeType}) {
        assertThat(refused(node, setup().writerIndex(length))).isEqualTo("SETUP must be whole (was cut short)");
      }
      assertThat(node.put(node.client(4), node.keys(0, 4))).hasSize(4);
    }
  }

  private static String refused(WireNode node, int interval, int lifetime) throws Exception {
    return refused(node, setup().setInt(INTERVAL_OFFSET, interval).setInt(LIFETIME_OFFSET, lifetime));
  }

  private static String refused(WireNode node, ByteBuf setup) throws Exception {
    DuplexConnection peer = requireNonNull(node.transport().connect().block(WireNode.PATIENCE));
    CompletableFuture<String> told =
        peer.receive().filter(frame -> FrameHeaderCodec.frameType(frame) == FrameType.ERROR)
            .map(ErrorFrameCodec::dataUtf8).next().toFuture();
    peer.sendFrame(0, setup);
    String message = told.get(20, TimeUnit.SECONDS);
    peer.onClose().onErrorComplete().block(WireNode.PATIENCE);
    return message;
  }

  /// What looks like a fragment of a type that there is not. RSocket's own transport tells the peer, and leaves the
  /// connection open.
  @ParameterizedTest
  @EnumSource(names = "PENSTOCK")
  void frame_ofNoKnownType_endsItsConnection_withAnError(Link link) throws Exception {
    try (WireNode node = WireNode.of(link, Blocks.smallSpace(), 4)) {
      DuplexConnection peer = requireNonNull(node.transport().connect().block(WireNode.PATIENCE));
      CompletableFuture<FrameType> told =
          peer.receive().map(FrameHeaderCodec::frameType).filter(type -> type == FrameType.ERROR)
              .next().toFuture();
      peer.sendFrame(0, setup());
      peer.sendFrame(1, Unpooled.buffer().writeInt(1).writeShort(0x30 << 10 | 0x80).writeZero(16));

      assertThat(told.get(20, TimeUnit.SECONDS)).isEqualTo(FrameType.ERROR);
      peer.onClose().onErrorComplete().block(WireNode.PATIENCE);
      assertThat(node.put(node.client(4), node.keys(0, 4))).hasSize(4);
    }
  }

  /// Shares of a node go by it: an acceptor that does not hear it gives all peers one share.
  @Test
  void acceptor_hearsWhereItsPeerIs_once() {
    LoopResources loops = LoopResources.create("source", 1, true);
    List<Object> sources = new CopyOnWriteArrayList<>();
    TcpListener listening = requireNonNull(RSocketServer.create((setup, peer) -> {
      sources.add(CheckedFrames.peer().source());
      sources.add(CheckedFrames.peer().source());
      return Mono.just(new RSocket() {});
    }).interceptors(registry -> CheckedFrames.ofNode(registry, Duration.ofMinutes(5)))
        .bind(TcpTransport.server(TcpServerOptions.on("127.0.0.1", 0), loops)).block(WireNode.PATIENCE));
    RSocket client = requireNonNull(RSocketConnector.create()
        .connect(TcpTransport.client(TcpClientOptions.to("127.0.0.1", listening.port()), loops))
        .block(WireNode.PATIENCE));
    client.requestResponse(DefaultPayload.create("any")).onErrorComplete().block(WireNode.PATIENCE); // SETUP was taken

    assertThat(sources).containsExactly(SourceAddress.of(new InetSocketAddress("127.0.0.1", 1)), "no address");
    client.dispose();
    listening.dispose();
    loops.disposeLater(Duration.ZERO, WireNode.PATIENCE).block(WireNode.PATIENCE);
  }

  private static ByteBuf setup() {
    return SetupFrameCodec.encode(ALLOC, false, 20_000, 90_000, Unpooled.EMPTY_BUFFER, RequestMetadata.COMPOSITE,
        ControlCodec.CBOR.mimeType(),
        DefaultPayload.create(""));
  }
}
