package io.penstock.wire;

import io.netty.buffer.ByteBufAllocator;
import io.penstock.block.BlockLayout;
import io.penstock.block.LayerSlice;
import io.penstock.block.LayerSpan;
import io.penstock.block.SpaceId;
import io.rsocket.Payload;
import io.rsocket.util.ByteBufPayload;

/// What every slice of a connection becomes a payload with: its header, then the memory of its blocks, none of it
/// copied.
///
/// @param sendWindow pays for the bytes of slices that the socket has not released
record SliceFraming(SpaceId space, BlockLayout layout, ByteBufAllocator allocator, int maxSliceBytes,
    Budget sendWindow) {
  /// A payload with shares of its own of the blocks of `slice`, which stays the caller's.
  ///
  /// @param released runs once when the last hold on the payload is gone
  Payload encode(LayerSlice slice, Runnable released) {
    SliceBuf bytes = new SliceBuf(allocator, slice.spans().size() + 2, released);
    try {
      bytes.addComponent(true, SliceHeader.encode(slice, space, layout, allocator));
      for (LayerSpan span : slice.spans()) {
        bytes.addComponent(true, new SpanBuf(allocator, span.share()));
      }
      return ByteBufPayload.create(bytes);
    } catch (Throwable e) { // memory may run out, too
      bytes.release();
      throw e;
    }
  }
}
