package io.penstock.block;

/// Order in which the slices of a window of blocks travel.
public enum SliceOrder {
  /// Layer 0 of every block of the window, then layer 1: attention can start after the first slice.
  LAYER_FIRST,
  /// All layers of a block, then the next block.
  BLOCK_FIRST
}
