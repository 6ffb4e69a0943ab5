package io.penstock.wire.server.call;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.penstock.wire.protocol.ControlCodec;
import io.penstock.wire.protocol.RequestMetadata;
import io.penstock.wire.trace.TraceContext;
import io.rsocket.Payload;
import io.rsocket.util.ByteBufPayload;
import org.jspecify.annotations.Nullable;

/// A request as the server reads it: its route and its message, from a payload that stays the caller's.
///
/// @param rights under which it is answered
public record Call(String route, ControlCodec codec, ByteBuf data, ByteBufAllocator allocator,
    @Nullable TraceContext trace, RequestRights rights) {
  /// @param dataMimeType of the connection, for a request that names none
  static Call read(Payload payload, String dataMimeType, ByteBufAllocator allocator, RequestRights rights) {
    RequestMetadata metadata = RequestMetadata.read(payload.sliceMetadata(), dataMimeType);
    return new Call(metadata.route(), ControlCodec.of(metadata.dataMimeType()), payload.sliceData(), allocator,
        metadata.trace(), rights);
  }

  public <T> T message(Class<T> type) {
    return codec.decodeRequest(data, type);
  }

  /// A payload in the encoding of the request.
  public Payload reply(Object message) {
    return ByteBufPayload.create(codec.encode(message, allocator));
  }
}
