package io.penstock.node.party;

import static java.util.Objects.requireNonNull;

import io.penstock.block.BlockLayout;
import io.penstock.block.CacheSpace;
import io.penstock.block.SliceShape;
import io.penstock.node.text.Plural;
import io.penstock.node.text.Sizes;

/// Plan of the flow of bytes: their space, the size of the pieces, and the amount that may be under way.
///
/// A stream that waits for blocks of another writer keeps its credit, and that writer waits for room that other streams
/// hold until they get credit. So every stream that may be open is sure of its own credit: `concurrency × creditSlices
/// × sliceBytes` fits the decode party's budget, and no ring of waiters forms.
///
/// @param space of the blocks
/// @param budgetBytes bytes in flight of all parties together
/// @param concurrency streams that the decode party may have open
/// @param sliceBytes maximum payload bytes of a slice
/// @param creditSlices maximum slices that a stream asks for ahead
/// @param windowBlocks maximum blocks of a window
public record FlowPlan(CacheSpace space, long budgetBytes, int concurrency, int sliceBytes, int creditSlices,
    int windowBlocks) {
  private static final int SLICE_BYTES = 256 << 10;
  private static final int LEAST_SLICE_BYTES = 4 << 10;
  private static final int CREDIT_SLICES = 16;
  private static final int WINDOW_BYTES = 512 << 10;
  private static final int MAX_WINDOW_BLOCKS = 64;
  private static final int SHARES = 4;

  public FlowPlan {
    requireNonNull(space, "space");
    long windowBytes = (long) windowBlocks * space.layout().blockBytes();
    requireBudget(budgetBytes, SHARES * Math.max(windowBytes, 2L * sliceBytes),
        Plural.of(windowBlocks, "block") + " a window");
    requireBudget(budgetBytes, 2L * concurrency * creditSlices * sliceBytes,
        Plural.of(concurrency, "request") + " at a time");
  }

  /// Windows of about 512 KiB in slices of at most 256 KiB: so a core caches what crosses it, and the next party begins
  /// sooner; smaller where the budget, shared by `concurrency` streams, asks for it. A slice holds at least one plane
  /// of one layer.
  public static FlowPlan of(CacheSpace space, long budgetBytes, int concurrency) {
    BlockLayout layout = space.layout();
    long quarter = budgetBytes / SHARES;
    int window = Math.clamp(Math.min(WINDOW_BYTES, quarter) / layout.blockBytes(), 1, MAX_WINDOW_BLOCKS);
    long stream = budgetBytes / 2 / Math.max(1, concurrency);
    int slice = Math.clamp(Math.min(quarter / 2, stream / 2), Math.max(LEAST_SLICE_BYTES, largestPlane(layout)),
        Math.max(SLICE_BYTES, largestPlane(layout)));
    return new FlowPlan(space, budgetBytes, concurrency, slice, Math.clamp(stream / slice, 1, CREDIT_SLICES), window);
  }

  /// The decode party's half: for hits and for new blocks.
  long decodeBudgetBytes() {
    return budgetBytes / 2;
  }

  /// Blocks that the decode party has room for: each of its streams may land a window while another is read.
  int decodeSlots() {
    return 2 * windowBlocks * concurrency;
  }

  /// The node's quarter, for puts and reads.
  long nodeBudgetBytes() {
    return budgetBytes / SHARES;
  }

  /// The prefill party's quarter, for blocks that it produced and still holds.
  int prefillSlots() {
    return (int) Math.min(Integer.MAX_VALUE, budgetBytes / SHARES / space.layout().blockBytes());
  }

  /// Shape of the slices of blocks.
  public SliceShape shape() {
    return new SliceShape(windowBlocks, sliceBytes, SliceShape.Order.LAYER_FIRST, 0);
  }

  private static int largestPlane(BlockLayout layout) {
    int largest = 0;
    for (int plane = 0; plane < layout.planes().size(); plane++) {
      largest = Math.max(largest, layout.planeBytes(plane));
    }
    return largest;
  }

  private static void requireBudget(long budgetBytes, long least, String reason) {
    if (budgetBytes < least) {
      throw new IllegalArgumentException(
          "budget must be >= %s for %s (was %s)".formatted(Sizes.exact(least), reason, Sizes.exact(budgetBytes)));
    }
  }
}
