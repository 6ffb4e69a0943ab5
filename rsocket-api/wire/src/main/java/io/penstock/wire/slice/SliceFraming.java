package io.penstock.wire.slice;

import io.netty.buffer.ByteBufAllocator;
import io.penstock.block.BlockLayout;
import io.penstock.block.LayerSlice;
import io.penstock.block.SpaceId;
import io.penstock.carrier.SliceSender;
import io.penstock.carrier.UnlandedSlices;
import io.penstock.wire.credit.Budget;
import io.penstock.wire.report.Carried;
import io.rsocket.Payload;
import io.rsocket.util.ByteBufPayload;

/// Turns each slice of a connection into a payload: its header, then the part of its carrier.
///
/// @param sender carries the bytes
/// @param carried receives each slice
/// @param ofGranules whether the receiver takes rows with the checksums of their granules
/// @param sendWindow pays for the bytes of slices that the socket has not released
public record SliceFraming(SpaceId space, BlockLayout layout, ByteBufAllocator allocator, SliceSender sender,
    Carried carried, int maxSliceBytes, boolean ofGranules, Budget sendWindow) {
  /// A framing whose slices `other` receives.
  public SliceFraming counted(Carried other) {
    return new SliceFraming(space, layout, allocator, sender, other, maxSliceBytes, ofGranules, sendWindow);
  }

  /// A payload for `slice`, which stays the caller's.
  ///
  /// @param unlanded keeps the blocks of a slice whose bytes are not in its payload
  /// @param released runs once when the last hold on the payload is gone
  ///
  /// @throws IllegalArgumentException if its blocks have another layout than the connection's
  Payload encode(LayerSlice slice, UnlandedSlices unlanded, Runnable released) {
    OutgoingSlice frame = new OutgoingSlice(this, slice, unlanded, released);
    try {
      slice.requireLayout(layout);
      if (slice.view() == null) {
        sender.offer(slice, frame);
      } else {
        frame.pack();
      }
      carried.count(slice.bytes(), frame.isReferring());
      return ByteBufPayload.create(frame);
    } catch (Throwable e) { // memory may run out, too
      frame.release();
      throw e;
    }
  }
}
