package io.penstock.wire.slice;

import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.CompositeByteBuf;

/// The parts of one outgoing payload; reports once when the socket has released them.
public class SliceBuf extends CompositeByteBuf {
  private final Runnable released;

  public SliceBuf(ByteBufAllocator allocator, int components, Runnable released) {
    super(allocator, true, components);
    this.released = released;
  }

  @Override
  protected void deallocate() {
    super.deallocate();
    released.run();
  }
}
