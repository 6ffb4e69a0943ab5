package io.penstock.wire.slice;

import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.UnpooledDirectByteBuf;
import io.penstock.block.LayerSpan;

/// The memory of a span as a buffer for a socket, without a copy: owns one share, which its last release closes.
final class SpanBuf extends UnpooledDirectByteBuf {
  private final LayerSpan span;

  /// Takes over `span`.
  SpanBuf(ByteBufAllocator allocator, LayerSpan span) {
    super(allocator, span.buffer(), span.bytes());
    this.span = span;
  }

  @Override
  protected void deallocate() {
    super.deallocate();
    span.close();
  }
}
