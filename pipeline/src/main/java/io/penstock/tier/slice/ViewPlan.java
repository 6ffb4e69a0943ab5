package io.penstock.tier.slice;

import static java.util.Objects.requireNonNull;

import io.penstock.block.BlockLayout;
import io.penstock.block.BlockView;
import io.penstock.block.GranuleRange;
import io.penstock.block.LayerSlice;
import io.penstock.block.LayerSpan;
import io.penstock.block.SliceShape;
import java.util.ArrayList;
import java.util.List;

/// Division of one view of the blocks of a window into slices: as [SlicePlan] cuts blocks that are the packed bytes of
/// the view. A slice of a view has shares of whole granules; the view states which part of them it carries.
public final class ViewPlan {
  private final BlockView view;
  private final List<SlicePlan.Cut> cuts;

  /// @param blocks in the window
  /// @param view of whole layers, equal for every block
  /// @param layout of the blocks
  /// @param shape its `sliceBytes` are packed bytes; its start layer does not count
  /// @throws IllegalArgumentException if one token of a granule exceeds a slice
  public ViewPlan(int blocks, BlockView view, BlockLayout layout, SliceShape shape) {
    this(view, SlicePlan.of(view.packed(layout), blocks, 0, shape.sliceBytes(), shape.order()));
  }

  private ViewPlan(BlockView view, List<SlicePlan.Cut> cuts) {
    this.view = requireNonNull(view, "view");
    this.cuts = List.copyOf(cuts);
  }

  /// Cuts layer by layer: no slice has two layers, so each layer can leave as soon as it is there.
  public static ViewPlan byLayer(int blocks, BlockView view, BlockLayout layout, SliceShape shape) {
    int planes = layout.planes().size();
    List<SlicePlan.Cut> one = SlicePlan.of(
        view.part(GranuleRange.whole(0, planes)).packed(layout), blocks, 0, shape.sliceBytes(), shape.order());
    List<SlicePlan.Cut> cuts = new ArrayList<>(view.layers(layout) * one.size());
    for (int layer = 0; layer < view.layers(layout); layer++) {
      for (SlicePlan.Cut cut : one) {
        cuts.add(new SlicePlan.Cut(moved(cut.range(), layer * planes), cut.firstBlock(), cut.blocks()));
      }
    }
    return new ViewPlan(view, cuts);
  }

  private static GranuleRange moved(GranuleRange range, int granules) {
    return new GranuleRange(range.first() + granules, range.count(), range.firstRow(), range.rows());
  }

  /// Number of slices.
  public int size() {
    return cuts.size();
  }

  /// Part that slice `i` carries of each of its blocks.
  public BlockView view(int i) {
    return view.part(cuts.get(i).range());
  }

  /// Makes slice `i`, whose bytes are final.
  ///
  /// @param window its number in the stream, from 0
  /// @param spans lends shares of whole granules; if it fails, the shares lent before are given back
  public LayerSlice slice(int i, int window, SlicePlan.Spans spans) {
    SlicePlan.Cut cut = cuts.get(i);
    BlockView part = view(i);
    int[] positions = new int[cut.blocks()];
    List<LayerSpan> lent = new ArrayList<>(cut.blocks());
    try {
      for (int block = 0; block < cut.blocks(); block++) {
        positions[block] = spans.position(cut.firstBlock() + block);
        lent.add(spans.span(cut.firstBlock() + block, part.granules()));
      }
      return new LayerSlice(new LayerSlice.Position(window, cuts.size() - 1 - i), part, positions, lent);
    } catch (RuntimeException | Error e) {
      lent.forEach(LayerSpan::close);
      throw e;
    }
  }
}
