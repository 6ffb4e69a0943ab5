package io.penstock.carrier;

import io.penstock.block.LayerSlice;
import io.penstock.block.LayerSpan;
import java.util.List;

/// Carries bytes in the frames themselves. It works on every connection.
public final class InlineCarrier implements SliceSender, SliceReceiver {
  public static final InlineCarrier INSTANCE = new InlineCarrier();

  private InlineCarrier() {}

  @Override
  public void offer(LayerSlice slice, OutgoingFrame frame) {
    List<LayerSpan> spans = slice.spans();
    for (int i = 0; i < spans.size(); i++) {
      frame.carry(spans.get(i));
    }
  }

  @Override
  public SliceBytes arrived(IncomingFrame frame, int blocks, int bytesEach) {
    return (i, to) -> frame.read(i * bytesEach, to);
  }
}
