package io.penstock.wire.transport.tcp;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelPipeline;
import io.rsocket.DuplexConnection;
import reactor.core.publisher.Mono;

/// Place of frames in the bytes of a channel.
interface Framing {
  /// A length of 24 bits before each frame.
  Framing LENGTHS = new Framing() {
    @Override
    public void writeHeader(ByteBuf to, int size) {
      to.writeMedium(size);
    }
  };

  /// Maximum length of a header.
  int MOST_HEADER_BYTES = 14;

  /// Writes the header of a frame of `size` bytes.
  void writeHeader(ByteBuf to, int size);

  /// Bytes behind the last frame.
  default ByteBuf end(ByteBufAllocator alloc) {
    return Unpooled.EMPTY_BUFFER;
  }

  /// Makes `pipeline` turn received bytes into frames with a length of 24 bits, before the handler `connection`.
  ///
  /// @return completes when frames may be sent
  default Mono<DuplexConnection> install(ChannelPipeline pipeline, TcpConnection connection) {
    return Mono.just(connection);
  }
}
