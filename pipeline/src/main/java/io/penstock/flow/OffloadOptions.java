package io.penstock.flow;

import static java.util.Objects.requireNonNull;

import io.penstock.block.SliceShape;
import io.penstock.stage.BatchOptions;

/// How [OffloadPrefix] gathers and cuts blocks.
///
/// @param batch when a batch of blocks ends
/// @param shape windows, which must be no larger than what the tier can reserve at once, and slices
public record OffloadOptions(BatchOptions batch, SliceShape shape) {
  public OffloadOptions {
    requireNonNull(batch, "batch");
    shape.requireWholeBlocks();
  }

  public static OffloadOptions defaults() {
    return new OffloadOptions(BatchOptions.defaults(), SliceShape.defaults());
  }

  public OffloadOptions withBatch(BatchOptions batch) {
    return new OffloadOptions(batch, shape);
  }

  public OffloadOptions withShape(SliceShape shape) {
    return new OffloadOptions(batch, shape);
  }
}
