package io.penstock.stack.move;

import io.penstock.block.BlockKey;
import io.penstock.stack.decision.DeferredActions;
import io.penstock.stack.decision.Pending;
import io.penstock.stack.decision.Resident;
import io.penstock.stack.decision.StackEntry;
import io.penstock.stack.decision.StackFigures;
import io.penstock.stack.decision.StoreCopy;
import io.penstock.stack.ledger.StackHistory;
import io.penstock.stack.ledger.StackIndex;
import io.penstock.stack.shape.StackShape;
import io.penstock.tier.spi.BlockStore;
import io.penstock.tier.spi.StoredBlock;
import org.jspecify.annotations.Nullable;

/// Enters the blocks that a store kept into the ledger, in one decision.
final class Recovery implements BlockStore.Recovered {
  private final StackShape shape;
  private final StackIndex index;
  private final StackHistory history;
  private final StackFigures figures;
  private final int level;
  private final DeferredActions after;

  Recovery(StackShape shape, StackIndex index, StackHistory history, StackFigures figures, int level,
      DeferredActions after) {
    this.shape = shape;
    this.index = index;
    this.history = history;
    this.figures = figures;
    this.level = level;
    this.after = after;
  }

  @Override
  public void stored(StoredBlock block) {
    StackEntry entry = index.find(block.key(), after);
    if (entry instanceof Resident known) { // a faster store has it, too
      if (known.isStored(level)) {
        after.close(block);
      } else {
        known.addCopy(level, new StoreCopy(block));
      }
      after.review(known);
    } else {
      unlist(entry);
      Resident found = new Resident(block.key(), start(), figures);
      found.addCopy(level, new StoreCopy(block));
      index.enter(found, after);
    }
  }

  @Override
  public void numbered(BlockKey key, int number) {
    StackEntry entry = index.find(key, after);
    if (!(entry instanceof Resident)) {
      unlist(entry);
      if (index.enter(key, number, level, start(), after)) {
        return;
      }
    }
    stored(shape.store(level).fromNumber(key, number));
  }

  @Override
  public void damaged(BlockKey key) {
    history.corrupt(after);
  }

  /// Drops a write that began before the store could look for the block: the stored block takes its place.
  private void unlist(@Nullable StackEntry entry) {
    if (entry instanceof Pending pending) {
      index.unlist(pending);
    }
  }

  /// The level on which a found block enters the ledger. A write-through stack has all blocks on its last level, so
  /// they enter on the first and are promoted when they are read.
  private int start() {
    return shape.isWriteThrough() ? 0 : level;
  }
}
