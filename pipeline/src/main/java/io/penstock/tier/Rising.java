package io.penstock.tier;

import static java.util.Objects.requireNonNull;

import io.penstock.block.Block;
import io.penstock.block.BlockDraft;
import org.jspecify.annotations.Nullable;

/// A block of a [RisingWindow]: here already, or on its way into a draft.
final class Rising {
  final int position;
  final StackEntry.@Nullable Resident entry;
  @Nullable Block block;
  @Nullable BlockDraft draft;
  /// Where it is read, and at which level. Guarded by the tier's lock until the memory was granted.
  @Nullable Place place;
  int level;
  /// Whether the entry counts this window among its pins. Guarded by the tier's lock.
  boolean pinned;

  Rising(StackLease.Item item) {
    this.position = item.position();
    this.block = item.block();
    this.entry = item.promised();
    this.pinned = item.block() == null;
  }

  boolean isMissing() {
    return block == null;
  }

  /// Whether a store was to fill it and has left something out.
  boolean isIncomplete() {
    return draft != null && !draft.isComplete();
  }

  StackEntry.Resident promised() {
    return requireNonNull(entry);
  }
}
