package io.penstock.wire.client.link;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.penstock.operator.Failures;
import io.penstock.wire.protocol.RequestMetadata;
import io.rsocket.Payload;
import io.rsocket.util.ByteBufPayload;
import java.util.function.Function;
import reactor.core.publisher.Mono;

/// The first message of a connection, encoded before the connection is made: a library that does not fit ends
/// connecting on the caller's thread, with its error as the cause. Its bytes are on the heap, so it needs no release.
public final class FirstMessage {
  private final String route;
  private final byte[] data;

  private FirstMessage(String route, byte[] data) {
    this.route = route;
    this.data = data;
  }

  /// Encodes `message` on the thread that subscribes, then goes on with `connecting`.
  public static <T> Mono<T> encoded(String route, Object message, Function<FirstMessage, Mono<T>> connecting) {
    return Mono.defer(() -> {
      FirstMessage first;
      try {
        first = new FirstMessage(route, bytes(message));
      } catch (RuntimeException | Error e) {
        return Mono.error(Failures.passable(e));
      }
      return connecting.apply(first);
    });
  }

  /// Encodes `message`.
  public static FirstMessage of(String route, Object message) {
    return new FirstMessage(route, bytes(message));
  }

  private static byte[] bytes(Object message) {
    ByteBuf encoded = NodeConnection.CODEC.encode(message, ByteBufAllocator.DEFAULT);
    try {
      return ByteBufUtil.getBytes(encoded);
    } finally {
      encoded.release();
    }
  }

  String route() {
    return route;
  }

  /// The message as a payload of its own.
  Payload payload() {
    return ByteBufPayload.create(Unpooled.wrappedBuffer(data),
        RequestMetadata.write(route, ByteBufAllocator.DEFAULT));
  }
}
