package io.penstock.block;

import static java.util.Objects.requireNonNull;

import io.penstock.check.Checks;

/// Rules for cutting blocks into slices.
///
/// @param windowBlocks maximum number of blocks of a window, where the cutter makes the windows itself
/// @param sliceBytes maximum payload bytes of a slice
/// @param order layer-first or block-first inside a window
/// @param startLayer layers before it are left out
public record SliceShape(int windowBlocks, int sliceBytes, Order order, int startLayer) {
  public SliceShape {
    Checks.positive("windowBlocks", windowBlocks);
    Checks.positive("sliceBytes", sliceBytes);
    requireNonNull(order, "order");
    Checks.notNegative("startLayer", startLayer);
  }

  /// Windows of 16 blocks, slices of at most 256 KiB, layer-first from layer 0.
  public static SliceShape defaults() {
    return new SliceShape(16, 256 << 10, Order.LAYER_FIRST, 0);
  }

  /// This shape, for whole blocks.
  ///
  /// @throws IllegalArgumentException if it leaves layers out
  public SliceShape requireWholeBlocks() {
    if (startLayer != 0) {
      throw new IllegalArgumentException("startLayer must be 0 for whole blocks (was " + startLayer + ")");
    }
    return this;
  }

  public SliceShape withWindowBlocks(int windowBlocks) {
    return new SliceShape(windowBlocks, sliceBytes, order, startLayer);
  }

  public SliceShape withSliceBytes(int sliceBytes) {
    return new SliceShape(windowBlocks, sliceBytes, order, startLayer);
  }

  public SliceShape withOrder(Order order) {
    return new SliceShape(windowBlocks, sliceBytes, order, startLayer);
  }

  public SliceShape withStartLayer(int startLayer) {
    return new SliceShape(windowBlocks, sliceBytes, order, startLayer);
  }

  /// Order in which the slices of a window of blocks travel.
  public enum Order {
    /// Layer 0 of every block of the window, then layer 1: attention can start after the first slice.
    LAYER_FIRST,
    /// All layers of a block, then the next block.
    BLOCK_FIRST
  }
}
