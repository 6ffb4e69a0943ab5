package io.penstock.stage;

import io.penstock.block.Block;
import io.penstock.block.BlockLayout;
import io.penstock.block.BlockScope;
import io.penstock.block.LayerSlice;
import io.penstock.block.LayerSpan;
import io.penstock.block.SlicePlace;
import io.penstock.block.SlicePlan;
import io.penstock.tier.Leased;
import java.util.ArrayList;
import java.util.List;

/// A window of blocks being cut. Used by one thread at a time; its blocks may be closed by another.
final class SplitWindow {
  private final List<Leased> window;
  private final int number;
  private final BlockScope scope;
  private final List<SlicePlan.Cut> cuts;
  private int next;

  /// Takes over the blocks of `window`, also if it throws.
  SplitWindow(List<Leased> window, int number, SplitLayersOptions options, BlockScope scope) {
    this.window = window;
    this.number = number;
    this.scope = scope;
    try {
      this.cuts = SlicePlan.of(layout(window), window.size(), options.startLayer(), options.sliceBytes(), options.order());
    } catch (RuntimeException e) {
      close();
      throw e;
    }
  }

  boolean hasNext() {
    return next < cuts.size();
  }

  LayerSlice next() {
    SlicePlan.Cut cut = cuts.get(next++);
    int[] positions = new int[cut.blocks()];
    List<LayerSpan> spans = new ArrayList<>(cut.blocks());
    try {
      for (int i = 0; i < cut.blocks(); i++) {
        Leased leased = window.get(cut.firstBlock() + i);
        positions[i] = leased.position();
        spans.add(leased.block().span(cut.range()));
      }
    } catch (RuntimeException e) { // a block was closed by its scope
      spans.forEach(LayerSpan::close);
      throw e;
    }
    return scope.adopt(new LayerSlice(new SlicePlace(number, cuts.size() - next), cut.range(), positions, spans));
  }

  void close() {
    window.forEach(leased -> leased.block().close());
  }

  private static BlockLayout layout(List<Leased> window) {
    BlockLayout layout = window.getFirst().block().layout();
    for (Leased leased : window) {
      Block block = leased.block();
      if (!block.layout().equals(layout)) {
        throw new IllegalArgumentException("layout of a window must be one (was " + layout + " and " + block.layout() + ")");
      }
    }
    return layout;
  }
}
