package io.penstock.wire.slice;

import io.netty.buffer.ByteBuf;
import io.penstock.block.LayerSlice;
import io.penstock.block.LayerSpan;
import io.penstock.carrier.SliceSender.OutgoingFrame;
import io.penstock.carrier.UnlandedSlices;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/// Header of one outgoing slice, and the bytes or references of its carrier. Short parts of blocks are copied behind
/// the header: each buffer that the socket takes costs more than the copy. Longer parts are wrapped.
final class OutgoingSlice extends SliceBuf implements OutgoingFrame {
  /// Maximum length of a part of a block that is copied.
  private static final int SHORT_BYTES = 8 << 10;

  private final SliceFraming framing;
  private final LayerSlice slice;
  private final boolean isCopied;
  /// Room for the next copied part; null before the first one.
  private @Nullable MemorySegment room;
  private long copied;
  private final UnlandedSlices unlanded;
  private boolean isReferring;

  /// @param slice stays the caller's
  /// @param unlanded keeps referenced memory
  OutgoingSlice(SliceFraming framing, LayerSlice slice, UnlandedSlices unlanded, Runnable released) {
    super(framing.allocator(), slice.spans().size() + 2, released);
    this.isCopied = slice.range().bytes(framing.layout()) <= SHORT_BYTES;
    this.framing = framing;
    this.slice = slice;
    this.unlanded = unlanded;
  }

  /// Puts the packed bytes of a view behind its header: they do not lie together in any memory to refer to.
  void pack() {
    addComponent(true, SliceHeader.pack(slice, framing.space(), framing.layout(), alloc()));
  }

  @Override
  public void carry(LayerSpan span) {
    if (isCopied) {
      MemorySegment to = room == null ? begin() : room;
      span.copyTo(to, copied);
      copied += span.bytes();
      return;
    }
    if (writerIndex() == 0) {
      addComponent(true,
          SliceHeader.encodeWithRoom(slice, 0, framing.ofGranules(), framing.space(), framing.layout(), alloc()));
    }
    addComponent(true, new SpanBuf(alloc(), span.share()));
  }

  /// Adds the header, and room for all bytes behind it.
  private MemorySegment begin() {
    int bytes = slice.bytes();
    ByteBuf header =
        SliceHeader.encodeWithRoom(slice, bytes, framing.ofGranules(), framing.space(), framing.layout(), alloc());
    int start = header.writerIndex();
    addComponent(true, header.writerIndex(start + bytes));
    MemorySegment behind = MemorySegment.ofBuffer(header.nioBuffer(start, bytes));
    room = behind;
    return behind;
  }

  @Override
  public void refer(byte[] references) {
    addComponent(true,
        SliceHeader.encode(slice, references, framing.ofGranules(), framing.space(), framing.layout(), alloc()));
    unlanded.keep(slice);
    isReferring = true;
  }

  /// Whether the bytes are not in it.
  boolean isReferring() {
    return isReferring;
  }
}
