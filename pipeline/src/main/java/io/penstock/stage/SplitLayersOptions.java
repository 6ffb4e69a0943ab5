package io.penstock.stage;

import static java.util.Objects.requireNonNull;

import io.penstock.block.SliceOrder;

/// How [SplitLayers] cuts.
///
/// @param windowBlocks most blocks a window, where the stage makes the windows itself
/// @param sliceBytes most payload bytes a slice
/// @param order layer-first or block-first inside a window
/// @param startLayer layers before it are left out
public record SplitLayersOptions(int windowBlocks, int sliceBytes, SliceOrder order, int startLayer) {
  public SplitLayersOptions {
    Checks.positive("windowBlocks", windowBlocks);
    Checks.positive("sliceBytes", sliceBytes);
    requireNonNull(order, "order");
    Checks.notNegative("startLayer", startLayer);
  }

  /// Windows of 16 blocks, slices of at most 256 KiB, layer-first from layer 0.
  public static SplitLayersOptions defaults() {
    return new SplitLayersOptions(16, 256 << 10, SliceOrder.LAYER_FIRST, 0);
  }

  public SplitLayersOptions withWindowBlocks(int windowBlocks) {
    return new SplitLayersOptions(windowBlocks, sliceBytes, order, startLayer);
  }

  public SplitLayersOptions withSliceBytes(int sliceBytes) {
    return new SplitLayersOptions(windowBlocks, sliceBytes, order, startLayer);
  }

  public SplitLayersOptions withOrder(SliceOrder order) {
    return new SplitLayersOptions(windowBlocks, sliceBytes, order, startLayer);
  }

  public SplitLayersOptions withStartLayer(int startLayer) {
    return new SplitLayersOptions(windowBlocks, sliceBytes, order, startLayer);
  }
}
