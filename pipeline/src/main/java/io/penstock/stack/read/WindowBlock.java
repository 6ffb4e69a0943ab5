package io.penstock.stack.read;

import static java.util.Objects.requireNonNull;

import io.penstock.block.Block;
import io.penstock.block.BlockDraft;
import io.penstock.block.BlockKey;
import io.penstock.block.GranuleRange;
import io.penstock.block.LayerSpan;
import io.penstock.stack.decision.DeferredActions;
import io.penstock.stack.decision.LeaseItem;
import io.penstock.stack.decision.Resident;
import io.penstock.stack.decision.StoreCopy;
import io.penstock.stack.ledger.LevelStates;
import io.penstock.stack.move.Removals;
import io.penstock.stack.move.StoreSlots;
import io.penstock.tier.spi.StoredBlock;
import org.jspecify.annotations.Nullable;

/// A block of a [StoreWindow]: in memory, or read from a store into a draft. Methods that take [DeferredActions] or
/// [LevelStates] are used in decisions. The window uses the others, on the thread that reads it or under its
/// monitor.
final class WindowBlock {
  private final int position;
  private final @Nullable Resident promised;
  private @Nullable Block block;
  private @Nullable BlockDraft draft;
  /// The copy that is read into the draft, and the level of its store.
  private @Nullable StoreCopy copy;
  private int level;
  /// Whether the window holds a pin on the block.
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

  /// The stack's entry of a block that was not in memory when the window was made.
  Resident promised() {
    return requireNonNull(promised, "promised");
  }

  BlockKey key() {
    return promised().key();
  }

  // In decisions

  /// Takes a share of the bytes, if they came to host memory meanwhile; else begins to read them into `into`.
  ///
  /// @return whether a read begins, which takes `into` over
  boolean start(BlockDraft into, LevelStates states, DeferredActions after) {
    if (promised().isInMemory()) {
      block = promised().hostBlock().share();
      unpin(after);
      return false;
    }
    draft = into;
    level = states.readableLevel(promised());
    copy = promised().copy(level);
    copy.startRead();
    return true;
  }

  /// Ends the read and the pin, unless they ended before.
  void end(StoreSlots slots, DeferredActions after) {
    StoreCopy read = copy;
    if (read != null) {
      copy = null;
      slots.endRead(level, read, after);
    }
    unpin(after);
  }

  private void unpin(DeferredActions after) {
    if (pinned) {
      pinned = false;
      promised().unpin(after);
    }
  }

  /// Whether the block waits for the store of level `of`.
  boolean needs(int of, LevelStates states) {
    return copy != null
        ? level == of
        : pinned && promised().isStored(of) && !states.isReadable(promised());
  }

  /// The level of the store from which the block would be read now; −1 if it need not be read.
  int storeLevel(LevelStates states) {
    return pinned && !promised().isInMemory() ? states.readableLevel(promised()) : -1;
  }

  // By the window

  /// Whether no share of the bytes was taken or read yet.
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

  /// The level of the store from which the block is read.
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

  /// Compares bytes that came to host memory after the window was made with their checksums.
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
