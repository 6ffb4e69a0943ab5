package io.penstock.wire;

import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.CompositeByteBuf;

/// The parts of one outgoing payload; tells once when the socket is done with them.
class SliceBuf extends CompositeByteBuf {
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
