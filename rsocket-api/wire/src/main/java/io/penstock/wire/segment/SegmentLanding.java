package io.penstock.wire.segment;

import io.netty.buffer.ByteBuf;
import io.penstock.block.UnexpectedSliceException;
import io.penstock.carrier.SharedMemoryReceiver;
import io.penstock.carrier.SliceReceiver.IncomingFrame;
import io.penstock.wire.protocol.SegmentMessages;
import io.penstock.wire.protocol.SegmentSlice;
import io.penstock.wire.protocol.WireFormatException;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/// Lands the slices of one item, in order. Bytes in a frame are verified in the receive buffer, then copied, the one
/// copy on the way in: wrong bytes never land. Bytes in memory of the sender are copied, then verified: the sender may
/// change them in the meantime, so if they differ the item fails, and the landed bytes of the slice are undefined.
public final class SegmentLanding {
  /// Bytes that are copied before they are verified: they are in the cache then.
  private static final int STEP_BYTES = 64 << 10;

  private final PieceCursor to;
  private final SegmentMessages.ItemRequest request;
  private final int sliceBytes;
  private final @Nullable SharedMemoryReceiver shared;
  private long verifyNanos;
  private long sharedBytes;

  /// @param request of the item
  /// @param shared reads memory of the sender; null if all bytes come in frames
  public SegmentLanding(List<MemorySegment> pieces, SegmentMessages.ItemRequest request,
      @Nullable SharedMemoryReceiver shared) {
    this.shared = shared;
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

  /// Bytes that were read in memory of the sender.
  long sharedBytes() {
    return sharedBytes;
  }

  /// Number of slices that are still to come.
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
    if (slice.refers()) {
      landShared(slice, data);
      return;
    }
    long began = System.nanoTime();
    slice.requireIntact(data);
    verifyNanos += System.nanoTime() - began;
    int[] at = {data.readerIndex() + SegmentSlice.BYTES};
    to.next(slice.length(), part -> {
      data.getBytes(at[0], part.asByteBuffer());
      at[0] += (int) part.byteSize();
    });
  }

  private void landShared(SegmentSlice slice, ByteBuf data) {
    SharedMemoryReceiver memory = shared;
    if (memory == null) {
      throw WireFormatException.slice("flags", "0 without shared memory", 1);
    }
    SharedMemoryReceiver.Run run;
    try {
      run = memory.run(new Reference(data), slice.length());
    } catch (UnexpectedSliceException e) {
      throw WireFormatException.slice(e);
    }
    CRC32C crc = new CRC32C();
    int[] at = {0};
    while (at[0] < slice.length()) {
      to.next(Math.min(STEP_BYTES, slice.length() - at[0]), part -> {
        run.read(at[0], part);
        crc.update(part.asByteBuffer());
        at[0] += (int) part.byteSize();
      });
    }
    slice.requireIntact((int) crc.getValue());
    sharedBytes += slice.length();
  }

  /// The part of a frame behind the header.
  private record Reference(ByteBuf data) implements IncomingFrame {
    @Override
    public int bytes() {
      return data.readableBytes() - SegmentSlice.BYTES;
    }

    @Override
    public void read(int offset, MemorySegment into) {
      data.getBytes(data.readerIndex() + SegmentSlice.BYTES + offset, into.asByteBuffer());
    }
  }

  private static void requireEqual(String field, long wanted, long actual) {
    SegmentSlice.require(field, "" + wanted, actual == wanted, actual);
  }

  /// Error of a stream that ended too early.
  WireFormatException cut() {
    return WireFormatException.slice("end", "after all bytes of the item", "with " + to.left() + " missing");
  }
}
