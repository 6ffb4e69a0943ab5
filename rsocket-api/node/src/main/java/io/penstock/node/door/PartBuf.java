package io.penstock.node.door;

import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.UnpooledDirectByteBuf;
import io.penstock.flow.ValuePart;

/// The memory of a part of a value as a buffer for a socket, without a copy: owns the part, which its last release
/// closes.
public final class PartBuf extends UnpooledDirectByteBuf {
  private final ValuePart part;

  /// Takes over `part`.
  public PartBuf(ByteBufAllocator allocator, ValuePart part) {
    super(allocator, part.buffer(), Math.toIntExact(part.bytes()));
    this.part = part;
  }

  @Override
  protected void deallocate() {
    super.deallocate();
    part.close();
  }
}
