package io.penstock.node.replay;

import static java.util.Objects.requireNonNull;

import io.penstock.block.CacheSpace;
import io.penstock.node.config.Sizes;

/// How bytes flow: what is exchanged, in what pieces, and how much of it may be under way.
///
/// @param space of the blocks
/// @param budgetBytes bytes in flight of all parties together
/// @param sliceBytes most payload bytes of a slice
/// @param windowBlocks most blocks of a window
record FlowPlan(CacheSpace space, long budgetBytes, int sliceBytes, int windowBlocks) {
  /// All parties together, when nothing is said.
  static final long DEFAULT_BUDGET_BYTES = 32 << 20;

  private static final int SLICE_BYTES = 512 << 10;
  private static final int WINDOW_BYTES = 1 << 20;
  private static final int MAX_WINDOW_BLOCKS = 64;
  private static final int LEAST_SLICE_BYTES = 4 << 10;
  private static final int SHARES = 4;

  FlowPlan {
    requireNonNull(space, "space");
    long windowBytes = (long) windowBlocks * space.layout().blockBytes();
    long least = SHARES * Math.max(windowBytes, sliceBytes);
    if (budgetBytes < least) {
      throw new IllegalArgumentException("budget must be >= %s, four windows of %d blocks (was %s)"
          .formatted(Sizes.exact(least), windowBlocks, Sizes.exact(budgetBytes)));
    }
  }

  /// Windows of about 1 MiB in slices of at most 512 KiB, smaller where the budget asks for it.
  static FlowPlan of(CacheSpace space, long budgetBytes) {
    int blockBytes = space.layout().blockBytes();
    long share = budgetBytes / SHARES;
    int window = Math.clamp(Math.min(WINDOW_BYTES, share) / blockBytes, 1, MAX_WINDOW_BLOCKS);
    int slice = (int) Math.max(LEAST_SLICE_BYTES, Math.min(SLICE_BYTES, share));
    return new FlowPlan(space, budgetBytes, slice, window);
  }

  /// The decode party's half: it lands what hits and what was produced.
  long decodeBudgetBytes() {
    return budgetBytes / 2;
  }

  /// The node's quarter, for what is put.
  long nodeBudgetBytes() {
    return budgetBytes / SHARES;
  }

  /// The prefill party's quarter, for what it produced and still holds.
  int prefillSlots() {
    return (int) Math.min(Integer.MAX_VALUE, budgetBytes / SHARES / space.layout().blockBytes());
  }
}
