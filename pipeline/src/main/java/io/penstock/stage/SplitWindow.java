package io.penstock.stage;

import io.penstock.block.Block;
import io.penstock.block.BlockLayout;
import io.penstock.block.BlockScope;
import io.penstock.block.GranuleRange;
import io.penstock.block.LayerSlice;
import io.penstock.block.LayerSpan;
import io.penstock.block.SlicePosition;
import io.penstock.block.SlicePlan;
import io.penstock.block.SliceShape;
import io.penstock.tier.LeasedBlock;
import java.util.List;

/// A window of blocks being cut. Used by one thread at a time; its blocks may be closed by another.
final class SplitWindow implements LayerSlice.Spans {
  private final List<LeasedBlock> window;
  private final int number;
  private final BlockScope scope;
  private final List<SlicePlan.Cut> cuts;
  private int next;

  /// Takes over the blocks of `window`, also if it throws.
  SplitWindow(List<LeasedBlock> window, int number, SliceShape options, BlockScope scope) {
    this.window = window;
    this.number = number;
    this.scope = scope;
    try {
      this.cuts =
          SlicePlan.of(layout(window), window.size(), options.startLayer(), options.sliceBytes(), options.order());
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
    return scope.adopt(LayerSlice.of(cut, new SlicePosition(number, cuts.size() - next), this));
  }

  @Override
  public int position(int i) {
    return window.get(i).position();
  }

  @Override
  public LayerSpan span(int i, GranuleRange range) {
    return window.get(i).block().span(range);
  }

  void close() {
    window.forEach(leased -> leased.block().close());
  }

  private static BlockLayout layout(List<LeasedBlock> window) {
    BlockLayout layout = window.getFirst().block().layout();
    for (LeasedBlock leased : window) {
      Block block = leased.block();
      if (!block.layout().equals(layout)) {
        throw new IllegalArgumentException(
            "layout of a window must be one (was " + layout + " and " + block.layout() + ")");
      }
    }
    return layout;
  }
}
