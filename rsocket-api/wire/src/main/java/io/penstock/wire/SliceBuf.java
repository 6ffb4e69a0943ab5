package io.penstock.wire;

import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.CompositeByteBuf;

/// Header and spans of one outgoing slice; tells once when the socket is done with them.
final class SliceBuf extends CompositeByteBuf {
  private final Runnable released;

  SliceBuf(ByteBufAllocator allocator, int components, Runnable released) {
    super(allocator, true, components);
    this.released = released;
  }

  @Override
  protected void deallocate() {
    super.deallocate();
    released.run();
  }
}
