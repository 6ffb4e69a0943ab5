package io.penstock.wire;

import io.penstock.block.Block;
import io.penstock.block.BlockLayout;
import io.penstock.block.LayerSlice;
import io.penstock.block.LayerSpan;
import io.penstock.block.SliceOrder;
import io.penstock.block.SlicePlace;
import io.penstock.block.SlicePlan;
import io.penstock.tier.Leased;
import java.util.ArrayList;
import java.util.List;
import reactor.core.publisher.Flux;

/// Cuts the windows of one stream into slices, each made when it is asked for. Takes over the blocks of a window and closes them when
/// its last slice was made or the stream ended.
final class WindowSlices {
  private final BlockLayout layout;
  private final SliceOrder order;
  private final int startLayer;
  private final int maxSliceBytes;
  private int windows;

  WindowSlices(BlockLayout layout, SliceOrder order, int startLayer, int maxSliceBytes) {
    this.layout = layout;
    this.order = order;
    this.startLayer = startLayer;
    this.maxSliceBytes = maxSliceBytes;
  }

  /// The slices of the next window.
  Flux<LayerSlice> cut(List<Leased> window) {
    return cut(windows++, window);
  }

  /// The slices of the window of this number.
  Flux<LayerSlice> cut(int number, List<Leased> window) {
    List<SlicePlan.Cut> cuts = SlicePlan.of(layout, window.size(), startLayer, maxSliceBytes, order);
    return Flux.range(0, cuts.size())
        .map(i -> slice(window, cuts.get(i), new SlicePlace(number, cuts.size() - 1 - i)))
        .doFinally(end -> window.forEach(leased -> leased.block().close()));
  }

  private static LayerSlice slice(List<Leased> window, SlicePlan.Cut cut, SlicePlace place) {
    int[] positions = new int[cut.blocks()];
    List<LayerSpan> spans = new ArrayList<>(cut.blocks());
    try {
      for (int i = 0; i < cut.blocks(); i++) {
        Leased leased = window.get(cut.firstBlock() + i);
        positions[i] = leased.position();
        Block block = leased.block();
        spans.add(block.span(cut.range()));
      }
      return new LayerSlice(place, cut.range(), positions, spans);
    } catch (RuntimeException e) {
      spans.forEach(LayerSpan::close);
      throw e;
    }
  }
}
