package io.penstock.tier.slice;

import static java.util.Objects.requireNonNull;

import io.penstock.block.BlockLayout;
import io.penstock.block.GranuleRange;
import io.penstock.block.LayerSlice;
import io.penstock.block.LayerSpan;
import io.penstock.block.SliceShape;
import io.penstock.check.Checks;
import java.util.ArrayList;
import java.util.List;

/// Division of a window of blocks into slices: the granules and blocks of each slice, in sending order.
///
/// A slice holds as many layers × blocks as fit `maxBytes`. A layer of one block that does not fit is cut between
/// planes. A plane that does not fit is cut between rows.
public final class SlicePlan {
  /// One slice: a range of granules of the blocks `firstBlock … firstBlock + blocks`.
  public record Cut(GranuleRange range, int firstBlock, int blocks) {}

  /// The parts of slices: shares of the blocks of a window, or of its drafts.
  public interface Spans {
    /// Index of the `i`-th block's key in the request.
    int position(int i);

    /// A share of `range` of the `i`-th block.
    LayerSpan span(int i, GranuleRange range);
  }

  private SlicePlan() {}

  /// Makes slice `i` of a window.
  ///
  /// @param cuts of the window
  /// @param window its number in the stream, from 0
  /// @param spans lends the parts of the slice; if it fails, the parts lent before are given back
  public static LayerSlice slice(List<Cut> cuts, int i, int window, Spans spans) {
    Cut cut = cuts.get(i);
    int[] positions = new int[cut.blocks()];
    List<LayerSpan> lent = new ArrayList<>(cut.blocks());
    try {
      for (int block = 0; block < cut.blocks(); block++) {
        positions[block] = spans.position(cut.firstBlock() + block);
        lent.add(spans.span(cut.firstBlock() + block, cut.range()));
      }
      return new LayerSlice(new LayerSlice.Position(window, cuts.size() - 1 - i), cut.range(), positions, lent);
    } catch (RuntimeException | Error e) {
      lent.forEach(LayerSpan::close);
      throw e;
    }
  }

  /// @param layout of every block
  /// @param blocks number of blocks in the window
  /// @param startLayer layers before it are left out
  /// @param maxBytes most payload bytes a slice
  /// @param order layer-first or block-first
  /// @throws IllegalArgumentException if a single row exceeds `maxBytes`
  public static List<Cut> of(BlockLayout layout, int blocks, int startLayer, int maxBytes, SliceShape.Order order) {
    Checks.positive("blocks", blocks);
    Checks.within("startLayer", startLayer, layout.layers());
    Checks.positive("maxBytes", maxBytes);
    requireNonNull(order, "order");
    return switch (order) {
      case LAYER_FIRST -> layerFirst(layout, blocks, startLayer, maxBytes);
      case BLOCK_FIRST -> blockFirst(layout, blocks, startLayer, maxBytes);
    };
  }

  private static List<Cut> layerFirst(BlockLayout layout, int blocks, int startLayer, int maxBytes) {
    List<Cut> cuts = new ArrayList<>();
    long layerOfAll = (long) layout.layerBytes() * blocks;
    int layersAtOnce = (int) Math.max(1, maxBytes / layerOfAll);
    for (int layer = startLayer; layer < layout.layers(); layer += layersAtOnce) {
      GranuleRange layers = GranuleRange.layers(layout, layer, Math.min(layer + layersAtOnce, layout.layers()));
      for (GranuleRange range : ranges(layout, layers, maxBytes)) {
        spread(cuts, layout, range, blocks, maxBytes);
      }
    }
    return cuts;
  }

  private static List<Cut> blockFirst(BlockLayout layout, int blocks, int startLayer, int maxBytes) {
    List<Cut> cuts = new ArrayList<>();
    GranuleRange layers = GranuleRange.layers(layout, startLayer, layout.layers());
    if (layers.bytes(layout) <= maxBytes) {
      spread(cuts, layout, layers, blocks, maxBytes);
      return cuts;
    }
    for (int block = 0; block < blocks; block++) {
      for (GranuleRange range : ranges(layout, layers, maxBytes)) {
        cuts.add(new Cut(range, block, 1));
      }
    }
    return cuts;
  }

  /// Adds as few slices as can carry `range` of all blocks.
  private static void spread(List<Cut> cuts, BlockLayout layout, GranuleRange range, int blocks, int maxBytes) {
    int atOnce = Math.max(1, maxBytes / range.bytes(layout));
    for (int block = 0; block < blocks; block += atOnce) {
      cuts.add(new Cut(range, block, Math.min(atOnce, blocks - block)));
    }
  }

  /// Cuts the granules `all` of one block into runs of at most `maxBytes`.
  private static List<GranuleRange> ranges(BlockLayout layout, GranuleRange all, int maxBytes) {
    List<GranuleRange> ranges = new ArrayList<>();
    int first = all.first();
    int bytes = 0;
    for (int granule = all.first(); granule < all.end(); granule++) {
      int own = layout.granuleBytes(granule);
      if (granule > first && bytes + own > maxBytes) {
        ranges.add(GranuleRange.whole(first, granule - first));
        first = granule;
        bytes = 0;
      }
      bytes += own;
      if (own > maxBytes) {
        rows(ranges, layout, granule, maxBytes);
        first = granule + 1;
        bytes = 0;
      }
    }
    if (first < all.end()) {
      ranges.add(GranuleRange.whole(first, all.end() - first));
    }
    return ranges;
  }

  private static void rows(List<GranuleRange> ranges, BlockLayout layout, int granule, int maxBytes) {
    int rowBytes = layout.rowBytes(granule);
    if (rowBytes > maxBytes) {
      throw new IllegalArgumentException(
          "maxBytes must be >= one row of " + rowBytes + " bytes (was " + maxBytes + ")");
    }
    int atOnce = maxBytes / rowBytes;
    int rows = layout.rows(granule);
    for (int row = 0; row < rows; row += atOnce) {
      ranges.add(GranuleRange.rows(granule, row, Math.min(atOnce, rows - row)));
    }
  }
}
