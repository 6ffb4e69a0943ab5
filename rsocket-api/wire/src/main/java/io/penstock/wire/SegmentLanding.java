package io.penstock.wire;

import io.netty.buffer.ByteBuf;
import java.lang.foreign.MemorySegment;
import java.util.List;

/// Where the slices of one item land, in order. Each is verified in the receive buffer, then copied, the one copy on
/// the way in: bytes that are wrong never land.
final class SegmentLanding {
  private final PieceCursor to;
  private final SegmentMessages.ItemRequest request;
  private final int sliceBytes;
  private long verifyNanos;

  /// @param request of the item
  SegmentLanding(List<MemorySegment> pieces, SegmentMessages.ItemRequest request) {
    this.to = new PieceCursor(pieces);
    this.request = request;
    this.sliceBytes = request.maxSliceBytes();
  }

  boolean isWhole() {
    return to.left() == 0;
  }

  long landed() {
    return to.position();
  }

  /// Time that checksums have taken.
  long verifyNanos() {
    return verifyNanos;
  }

  /// Slices that are still to come.
  long slicesLeft() {
    return (to.left() + sliceBytes - 1) / sliceBytes;
  }

  /// @throws WireFormatException if the slice is not the next one of the item
  void land(ByteBuf data) {
    SegmentSlice slice = SegmentSlice.decode(data);
    long wanted = Math.min(sliceBytes, to.left());
    long offset = request.offset() + to.position();
    requireEqual("item", request.item(), slice.item());
    requireEqual("generation", request.generation(), slice.generation());
    requireEqual("segment", request.segment(), slice.segment());
    requireEqual("offset", offset, slice.offset());
    requireEqual("bytes", wanted, slice.length());
    long began = System.nanoTime();
    slice.requireIntact(data);
    verifyNanos += System.nanoTime() - began;
    int[] at = {data.readerIndex() + SegmentSlice.BYTES};
    to.next(slice.length(), part -> {
      data.getBytes(at[0], part.asByteBuffer());
      at[0] += (int) part.byteSize();
    });
  }

  private static void requireEqual(String field, long wanted, long actual) {
    SegmentSlice.require(field, "" + wanted, actual == wanted, actual);
  }

  /// What a stream that ended too early ends with.
  WireFormatException cut() {
    return WireFormatException.slice("end", "after all bytes of the item", "with " + to.left() + " missing");
  }
}
