package io.penstock.stack.move;

import io.penstock.block.Block;
import io.penstock.block.BlockCorruptException;
import io.penstock.block.BlockKey;
import io.penstock.stack.decision.Decisions;
import io.penstock.stack.decision.DeferredActions;
import io.penstock.stack.decision.Resident;
import io.penstock.stack.decision.StackFigures;
import io.penstock.stack.ledger.PendingBlocks;
import io.penstock.stack.ledger.StackHistory;
import io.penstock.stack.ledger.StackIndex;
import io.penstock.stack.shape.StackShape;
import io.penstock.tier.TierHolds.KeyOutcome;

/// Takes blocks out of a `TierStack`: evicted, removed by a caller, or lost, each with one event. The review drops
/// their bytes when no reader and no move needs them. Used in decisions only, unless a method says otherwise.
public final class Removals {
  /// Number of victims of another level to examine for each block that has to go: few of these have a copy in the
  /// store.
  private static final int LOOKED_AT = 8;

  /// Maximum number of victims of a level to examine before the search ends. The next search continues behind those
  /// that were held.
  private static final int MOST_LOOKED = 1 << 13;

  private final StackShape shape;
  private final Decisions decisions;
  private final StackIndex index;
  private final StackHistory history;
  private final StackFigures figures;
  private final PendingBlocks pending;
  private final StoreSlots slots;
  private final String boundary;

  public Removals(StackShape shape, Decisions decisions, StackIndex index, StackHistory history, StackFigures figures,
      PendingBlocks pending, StoreSlots slots) {
    this.shape = shape;
    this.decisions = decisions;
    this.index = index;
    this.history = history;
    this.figures = figures;
    this.pending = pending;
    this.slots = slots;
    this.boundary = "tier " + shape.info().name();
  }

  /// Compares `block`, which is in host memory, with its checksums, if the stack verifies reads. Outside a decision.
  ///
  /// @throws BlockCorruptException after the block was removed
  public void requireIntact(Block block) {
    if (!shape.options().verifyReads()) {
      return;
    }
    try {
      block.verify(boundary);
    } catch (BlockCorruptException e) {
      decisions.decide(after -> quarantine(block, after));
      throw e;
    }
  }

  /// Loses `block`, whose bytes in host memory are damaged. A newer block of the same key stays.
  private void quarantine(Block block, DeferredActions after) {
    history.corrupt(after);
    Resident resident = index.inMemory(block.key());
    if (resident != null && resident.hostBlock().sharesMemoryWith(block)) {
      lose(resident, "checksum mismatch", after);
    }
  }

  /// Drops the copy of `key` that the store of `level` found damaged. Copies elsewhere stay. Outside a decision.
  void damaged(int level, BlockKey key) {
    decisions.decide(after -> {
      if (!decisions.isClosed() && index.find(key, after) instanceof Resident block && block.isStored(level)
          && !shape.store(level).isIntact(block.copy(level).block())) {
        history.corrupt(after);
        if (block.isElsewhereThan(level)) {
          slots.dropCopy(block, level, after);
          after.review(block);
        } else {
          lose(block, "checksum mismatch", after);
        }
      }
    });
  }

  /// Takes `block` out because its bytes are damaged or cannot be kept.
  void lose(Resident block, String reason, DeferredActions after) {
    if (!block.isRemoved() && !block.isReleased() && !decisions.isClosed()) {
      index.remove(block, after);
      history.lost(block, reason, after);
    }
    after.review(block);
  }

  /// Takes `block` out because no level has room for it.
  void evict(Resident block, DeferredActions after) {
    if (!block.isRemoved() && !decisions.isClosed()) {
      index.remove(block, after);
      history.evicted(block, after);
    }
    after.review(block);
  }

  /// Makes room in the store of `level`: drops copies of blocks that are in memory and that no receipt promises, and
  /// evicts the next victims that no read lease and no hard pin holds.
  ///
  /// @return number of blocks that it gave up
  int evictForRoom(int level, int blocks, DeferredActions after) {
    int given = 0;
    for (int from = shape.last(); from >= 0 && given < blocks && !decisions.isClosed(); from--) {
      given += evictFrom(from, level, blocks - given, after);
    }
    figures.evictedForRoom(given);
    return given;
  }

  /// The same of the victims of level `from`. Looks behind those that are held, as far as [#MOST_LOOKED] allows.
  private int evictFrom(int from, int level, int blocks, DeferredActions after) {
    int given = 0;
    int looked = 0;
    boolean passed = true;
    while (passed && given < blocks && looked < MOST_LOOKED) {
      passed = false;
      for (BlockKey key : index.victims(from, from == level ? blocks : LOOKED_AT * blocks)) {
        looked++;
        if (given == blocks || !(index.find(key, after) instanceof Resident block) || !block.isStored(level)) {
          continue;
        }
        if (block.isKept()) {
          index.passOver(block);
          passed = true;
        } else {
          giveUp(block, level, after);
          given++;
        }
      }
    }
    return given;
  }

  private void giveUp(Resident block, int level, DeferredActions after) {
    if (!shape.isWriteThrough() && block.level() != level && block.isInMemory()) {
      slots.dropCopy(block, level, after);
      after.review(block);
    } else {
      evict(block, after);
    }
  }

  /// Removes `key`.
  ///
  /// @param force whether to remove a block that a read lease holds, too
  public KeyOutcome remove(BlockKey key, boolean force, DeferredActions after) {
    if (!(index.find(key, after) instanceof Resident block)) {
      return absent(key);
    }
    if (block.isLeased() && !force) {
      return KeyOutcome.LEASED;
    }
    index.remove(block, after);
    history.removed(block);
    return KeyOutcome.OK;
  }

  /// Why `key` has no visible block.
  public KeyOutcome absent(BlockKey key) {
    return pending.of(key) != null ? KeyOutcome.NOT_READY : KeyOutcome.NOT_FOUND;
  }
}
