package io.penstock.wire;

import io.netty.buffer.ByteBuf;
import java.lang.foreign.MemorySegment;
import java.util.List;

/// Where the slices of one item land, in order. Each is verified in the receive buffer, then copied, the one copy on the
/// way in: bytes that are wrong never land.
final class SegmentLanding {
  private final PieceCursor to;
  private final long item;
  private final int sliceBytes;

  SegmentLanding(List<MemorySegment> pieces, long item, int sliceBytes) {
    this.to = new PieceCursor(pieces);
    this.item = item;
    this.sliceBytes = sliceBytes;
  }

  boolean isWhole() {
    return to.left() == 0;
  }

  long landed() {
    return to.position();
  }

  /// Slices that are still to come.
  long slicesLeft() {
    return (to.left() + sliceBytes - 1) / sliceBytes;
  }

  /// @throws WireFormatException if the slice is not the next one of the item
  void land(ByteBuf data) {
    SegmentSlice slice = SegmentSlice.decode(data);
    long wanted = Math.min(sliceBytes, to.left());
    SegmentSlice.require("item", "" + item, slice.item() == item, slice.item());
    SegmentSlice.require("offset", "" + to.position(), slice.offset() == to.position(), slice.offset());
    SegmentSlice.require("bytes", "" + wanted, slice.length() == wanted, slice.length());
    slice.requireIntact(data);
    int[] at = {data.readerIndex() + SegmentSlice.BYTES};
    to.next(slice.length(), part -> {
      data.getBytes(at[0], part.asByteBuffer());
      at[0] += (int) part.byteSize();
    });
  }

  /// What a stream that ended too early ends with.
  WireFormatException cut() {
    return WireFormatException.slice("end", "after all bytes of the item", "with " + to.left() + " missing");
  }
}
