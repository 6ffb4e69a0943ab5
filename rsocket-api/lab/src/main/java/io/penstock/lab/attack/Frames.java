package io.penstock.lab.attack;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.penstock.wire.protocol.Routes;
import io.rsocket.frame.RequestChannelFrameCodec;
import io.rsocket.frame.RequestResponseFrameCodec;
import io.rsocket.frame.RequestStreamFrameCodec;
import io.rsocket.frame.SetupFrameCodec;
import io.rsocket.metadata.WellKnownMimeType;
import io.rsocket.util.EmptyPayload;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.ObjectMapper;
import tools.jackson.dataformat.cbor.CBORMapper;

/// Frames as `PROTOCOL.md` describes them, written without the rules of our own client. The caller owns the buffers.
final class Frames {
  static final int KEEP_ALIVE = 20_000;
  static final int LIFETIME = 90_000;
  static final int LENGTH_BYTES = 3;

  private static final String COMPOSITE = WellKnownMimeType.MESSAGE_RSOCKET_COMPOSITE_METADATA.getString();
  private static final String CBOR = WellKnownMimeType.APPLICATION_CBOR.getString();
  private static final int ROUTING = 0xFE;
  private static final ObjectMapper MAPPER = CBORMapper.builder().build();
  private static final ByteBufAllocator ALLOCATOR = ByteBufAllocator.DEFAULT;

  private Frames() {}

  static ByteBuf setup(int keepAlive, int lifetime) {
    return SetupFrameCodec.encode(ALLOCATOR, false, keepAlive, lifetime, COMPOSITE, CBOR, EmptyPayload.INSTANCE);
  }

  static ByteBuf hello(int stream) {
    return ask(stream, Routes.HELLO, Map.of("versions", List.of(Routes.VERSION), "client", "penstock-attack"));
  }

  /// A request for one answer.
  static ByteBuf ask(int stream, String route, Map<String, ?> message) {
    return ask(stream, route, data(message));
  }

  /// A request for one answer with any bytes as its message, which it takes over.
  static ByteBuf ask(int stream, String route, ByteBuf message) {
    return RequestResponseFrameCodec.encode(ALLOCATOR, stream, false, metadata(route), message);
  }

  /// A request for a stream.
  ///
  /// @param n payloads that may come
  static ByteBuf stream(int stream, String route, Map<String, ?> message, int n) {
    return RequestStreamFrameCodec.encode(ALLOCATOR, stream, false, n, metadata(route), data(message));
  }

  /// The open message of a channel.
  ///
  /// @param n payloads that may come
  static ByteBuf channel(int stream, String route, Map<String, ?> message, int n) {
    return RequestChannelFrameCodec.encode(ALLOCATOR, stream, false, false, n, metadata(route), data(message));
  }

  /// `frame` behind its length, as TCP carries it.
  static ByteBuf framed(ByteBuf frame) {
    return ALLOCATOR.compositeBuffer(2)
        .addComponent(true, length(frame.readableBytes())).addComponent(true, frame);
  }

  /// The length field before a frame, for any following bytes.
  static ByteBuf length(int bytes) {
    return ALLOCATOR.buffer(LENGTH_BYTES).writeMedium(bytes);
  }

  static JsonNode read(ByteBuf data) {
    byte[] bytes = new byte[data.readableBytes()];
    data.getBytes(data.readerIndex(), bytes);
    return MAPPER.readTree(bytes);
  }

  private static ByteBuf data(Map<String, ?> message) {
    return Unpooled.wrappedBuffer(MAPPER.writeValueAsBytes(message));
  }

  private static ByteBuf metadata(String route) {
    byte[] tag = route.getBytes(StandardCharsets.US_ASCII);
    return ALLOCATOR.buffer().writeByte(ROUTING).writeMedium(tag.length + 1).writeByte(tag.length).writeBytes(tag);
  }
}
