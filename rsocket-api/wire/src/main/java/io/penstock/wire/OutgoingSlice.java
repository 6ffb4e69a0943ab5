package io.penstock.wire;

import io.penstock.block.LayerSlice;
import io.penstock.block.LayerSpan;
import io.penstock.carrier.SliceSender.OutgoingFrame;
import io.penstock.carrier.UnlandedSlices;

/// Header of one outgoing slice and what its carrier puts behind it.
final class OutgoingSlice extends SliceBuf implements OutgoingFrame {
  private final SliceFraming framing;
  private final LayerSlice slice;
  private final UnlandedSlices unlanded;
  private boolean isReferring;

  /// @param slice stays the caller's
  /// @param unlanded keeps what is referred to
  OutgoingSlice(SliceFraming framing, LayerSlice slice, UnlandedSlices unlanded, Runnable released) {
    super(framing.allocator(), slice.spans().size() + 2, released);
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
    SpanBuf bytes = new SpanBuf(alloc(), span);
    try {
      if (writerIndex() == 0) {
        addComponent(true, SliceHeader.encode(slice, framing.space(), framing.layout(), alloc()));
      }
    } catch (Throwable e) { // a header that cannot be made, or memory that ran out
      bytes.release();
      throw e;
    }
    addComponent(true, bytes);
  }

  @Override
  public void refer(byte[] references) {
    addComponent(true, SliceHeader.encode(slice, references, framing.space(), framing.layout(), alloc()));
    unlanded.keep(slice);
    isReferring = true;
  }

  /// Whether the bytes are not in it.
  boolean isReferring() {
    return isReferring;
  }
}
