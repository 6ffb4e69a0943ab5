package io.penstock.block;

import static java.util.Objects.requireNonNull;

import java.util.ArrayList;
import java.util.List;

/// How a window of blocks is cut into slices: which granules of which blocks each slice carries, in sending order.
///
/// A slice holds as many layers × blocks as fit `maxBytes`. When one layer of one block does not fit it is cut between
/// planes, and when one plane does not fit, between rows.
public final class SlicePlan {
  /// One slice: a range of granules of the blocks `firstBlock … firstBlock + blocks`.
  public record Cut(GranuleRange range, int firstBlock, int blocks) {}

  private SlicePlan() {}

  /// @param layout of every block
  /// @param blocks number of blocks in the window
  /// @param startLayer layers before it are left out
  /// @param maxBytes most payload bytes a slice
  /// @param order layer-first or block-first
  /// @throws IllegalArgumentException if a single row exceeds `maxBytes`
  public static List<Cut> of(BlockLayout layout, int blocks, int startLayer, int maxBytes, SliceOrder order) {
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
      LayerRange layers = new LayerRange(layer, Math.min(layer + layersAtOnce, layout.layers()));
      for (GranuleRange range : ranges(layout, layers, maxBytes)) {
        spread(cuts, layout, range, blocks, maxBytes);
      }
    }
    return cuts;
  }

  private static List<Cut> blockFirst(BlockLayout layout, int blocks, int startLayer, int maxBytes) {
    List<Cut> cuts = new ArrayList<>();
    LayerRange layers = new LayerRange(startLayer, layout.layers());
    long bytesABlock = (long) layers.count() * layout.layerBytes();
    if (bytesABlock <= maxBytes) {
      spread(cuts, layout, GranuleRange.layers(layout, layers), blocks, maxBytes);
      return cuts;
    }
    for (int block = 0; block < blocks; block++) {
      for (GranuleRange range : ranges(layout, layers, maxBytes)) {
        cuts.add(new Cut(range, block, 1));
      }
    }
    return cuts;
  }

  /// Gives `range` of all blocks to as few slices as fit.
  private static void spread(List<Cut> cuts, BlockLayout layout, GranuleRange range, int blocks, int maxBytes) {
    int atOnce = Math.max(1, maxBytes / range.bytes(layout));
    for (int block = 0; block < blocks; block += atOnce) {
      cuts.add(new Cut(range, block, Math.min(atOnce, blocks - block)));
    }
  }

  /// Cuts the granules of `layers` of one block into runs of at most `maxBytes`.
  private static List<GranuleRange> ranges(BlockLayout layout, LayerRange layers, int maxBytes) {
    GranuleRange all = GranuleRange.layers(layout, layers);
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
