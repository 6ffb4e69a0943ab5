package io.penstock.wire.slice;

import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.CompositeByteBuf;

/// The parts of one outgoing payload; tells once when the socket is done with them.
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
