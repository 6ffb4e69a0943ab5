package io.penstock.tier;

import static java.util.Objects.requireNonNull;

import io.penstock.block.Block;
import io.penstock.block.BlockDraft;
import io.penstock.block.BlockKey;
import io.penstock.block.GranuleRange;
import io.penstock.block.LayerSpan;
import io.penstock.tier.spi.StoredBlock;
import org.jspecify.annotations.Nullable;

/// A block of a [StoreWindow]: in memory, or read from a store into a draft. The methods that take [DeferredActions],
/// and [#needs], are used in decisions; the others by the window.
final class WindowBlock {
  private final int position;
  private final @Nullable Resident promised;
  private @Nullable Block block;
  private @Nullable BlockDraft draft;
  /// What is read into the draft, and the level of its store.
  private @Nullable StoreCopy copy;
  private int level;
  /// Whether the window is one of the pins of the block.
  private boolean pinned;

  WindowBlock(LeaseItem item) {
    this.position = item.position();
    this.block = item instanceof LeaseItem.InMemory here ? here.block() : null;
    this.promised = item instanceof LeaseItem.Promised promise ? promise.resident() : null;
    this.pinned = promised != null;
  }

  int position() {
    return position;
  }

  /// The block as the stack knows it; it was not in memory when the window was taken.
  Resident promised() {
    return requireNonNull(promised, "promised");
  }

  BlockKey key() {
    return promised().key();
  }

  // In decisions

  /// Takes its bytes from host memory, if they came there meanwhile, else begins to read them into `into`.
  ///
  /// @return whether it reads, and has taken over `into`
  boolean start(BlockDraft into, AttachedStores stores, DeferredActions after) {
    if (promised().isInMemory()) {
      block = promised().hostBlock().share();
      unpin(after);
      return false;
    }
    draft = into;
    level = stores.readableLevel(promised());
    copy = promised().copy(level);
    copy.startRead();
    return true;
  }

  /// Ends its read and its promise; either may have ended before.
  void end(AttachedStores stores, DeferredActions after) {
    StoreCopy read = copy;
    if (read != null) {
      copy = null;
      stores.at(level).endRead(read, after);
    }
    unpin(after);
  }

  private void unpin(DeferredActions after) {
    if (pinned) {
      pinned = false;
      promised().unpin(after);
    }
  }

  /// Whether it waits for the store of `of`.
  boolean needs(int of, AttachedStores stores) {
    return copy != null
        ? level == of
        : pinned && promised().isStored(of) && !stores.isReadable(promised());
  }

  /// The level of the store from which it would be read now; −1 if none has to.
  int storeLevel(AttachedStores stores) {
    return pinned && !promised().isInMemory() ? stores.readableLevel(promised()) : -1;
  }

  // By the window

  /// Whether its bytes are still to be read.
  boolean isMissing() {
    return block == null;
  }

  boolean isRead() {
    return draft != null;
  }

  /// Whether a store was to fill the draft and has left something out.
  boolean isIncomplete() {
    return draft != null && !draft.isComplete();
  }

  /// The level of the store that it is read from.
  int level() {
    return level;
  }

  StoredBlock stored() {
    return requireNonNull(copy, "copy").block();
  }

  BlockDraft draft() {
    return requireNonNull(draft, "draft");
  }

  @Nullable Block block() {
    return block;
  }

  void seal() {
    block = draft().seal();
    draft = null;
  }

  /// Compares bytes that came to host memory after the window was taken with their checksums.
  ///
  /// @throws io.penstock.block.BlockCorruptException after the block was removed
  void requireIntact(Removals removals) {
    if (promised != null && block != null) {
      removals.requireIntact(block);
    }
  }

  LayerSpan span(GranuleRange range) {
    return draft != null ? draft.span(range) : requireNonNull(block, "block").span(range);
  }

  void close() {
    if (block != null) {
      block.close();
    }
  }
}
