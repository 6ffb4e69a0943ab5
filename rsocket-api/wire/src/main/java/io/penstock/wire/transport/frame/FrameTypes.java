package io.penstock.wire.transport.frame;

import io.netty.buffer.ByteBuf;
import io.rsocket.frame.FrameHeaderCodec;
import io.rsocket.frame.FrameType;

/// Types of frames as they are written: a peer may send one that RSocket does not have.
public final class FrameTypes {
  private static final int FLAG_BITS = 10;

  private FrameTypes() {}

  /// The type in the header of `frame`, -1 if that is not whole.
  public static int of(ByteBuf frame) {
    return frame.readableBytes() < FrameHeaderCodec.size()
        ? -1
        : frame.getUnsignedShort(frame.readerIndex() + Integer.BYTES) >>> FLAG_BITS;
  }

  /// Whether `frame` is of `type`.
  public static boolean is(FrameType type, ByteBuf frame) {
    return of(frame) == type.getEncodedType();
  }
}
