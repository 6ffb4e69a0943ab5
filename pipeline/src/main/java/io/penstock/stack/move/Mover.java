package io.penstock.stack.move;

import io.penstock.block.Block;
import io.penstock.stack.decision.Decisions;
import io.penstock.stack.decision.DeferredActions;
import io.penstock.stack.decision.Resident;
import io.penstock.stack.decision.StackEntry;
import io.penstock.stack.ledger.LevelStates;
import io.penstock.stack.ledger.StackIndex;
import io.penstock.stack.move.MoveQueue.Need;
import io.penstock.stack.shape.StackShape;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// Copies blocks to the levels on which the ledger has them. One copy of a block is under way at a time;
/// [AttachedStore] batches the copies to and from a store.
///
/// A block keeps its memory until the copy has arrived, and takes no other while it waits. [StackMemory] says why such
/// waits have no cycle. A block whose bytes are only below its level is promoted when it is read, not before. Used in
/// decisions only.
public final class Mover {
  private final Decisions decisions;
  private final StackShape shape;
  private final StackIndex index;
  private final LevelStates states;
  private final StoreSlots slots;
  private final AttachedStores stores;
  private final Placement placement;
  private final MoveQueue queue;
  private final Removals removals;
  private final int host;
  private final int levels;
  /// The entries of the ledger from the close of the stack until the close of its stores.
  private List<StackEntry> last = List.of();
  private boolean storesClosed;

  public Mover(Decisions decisions, StackShape shape, StackIndex index, LevelStates states, StoreSlots slots,
      AttachedStores stores, Placement placement, MoveQueue queue, Removals removals) {
    this.decisions = decisions;
    this.shape = shape;
    this.index = index;
    this.states = states;
    this.slots = slots;
    this.stores = stores;
    this.placement = placement;
    this.queue = queue;
    this.removals = removals;
    this.host = shape.host();
    this.levels = shape.levels().size();
  }

  // Reviewing

  /// Starts the copy that `block` needs and drops the copies it does not need. The end of a decision calls this for
  /// each block that the decision changed.
  public void review(Resident block, DeferredActions after) {
    if (block.isReleased()) {
      return;
    }
    if (decisions.isClosed()) {
      retire(block, after);
    } else if (block.isMoving()) {
      return;
    } else if (block.isRemoved()) {
      queue.leave(block, after);
      if (!block.isPinned()) {
        release(block, after);
      }
    } else if (placement.hasNoLevel(block)) {
      removals.evict(block, after);
    } else {
      arrange(block, after);
    }
  }

  private void arrange(Resident block, DeferredActions after) {
    int target = placement.target(block);
    Need need = target < 0 ? null : need(block, target);
    if (MoveQueue.waitsForOther(block, need, target)) {
      queue.leave(block, after);
    }
    if (target < 0) {
      dropSurplus(block, after);
    } else if (block.currentWait() == null && need != null) {
      move(block, need, target, after);
    }
    if (index.keepNumber(block)) {
      placement.undefer(block);
    }
  }

  /// Resource that `block` needs to get to `target`; null if its bytes are on a slower level, where they stay until
  /// they are read.
  private @Nullable Need need(Resident block, int target) {
    if (block.isInMemory()) {
      return target == host ? Need.HOST_CHARGE : Need.STORE_SLOT;
    }
    int from = block.fastestStore();
    if (from <= target && !states.gives(from)) {
      placement.defer(block);
      return null;
    }
    return from > target ? null : target == host ? Need.HOST_SLOT : Need.BOUNCE_SLOT;
  }

  private void move(Resident block, Need need, int target, DeferredActions after) {
    if (need == Need.STORE_SLOT && slots.tryTake(target)) {
      stores.at(target).put(block, after);
    } else {
      queue.add(block, need, target, after);
    }
  }

  // Dropping

  /// Drops the copies that the ledger does not want, now that all wanted copies are there. Copies on a disk stay: they
  /// cost no memory and save a later copy.
  private void dropSurplus(Resident block, DeferredActions after) {
    if (!placement.belongsInHost(block)) {
      StoreSlots.dropHost(block, after);
    }
    for (int level = 0; level < levels; level++) {
      if (!placement.belongsOn(block, level) && !shape.isDisk(level)) {
        slots.dropCopy(block, level, after);
      }
    }
  }

  private void release(Resident block, DeferredActions after) {
    block.release();
    placement.undefer(block);
    StoreSlots.dropHost(block, after);
    for (int level = 0; level < levels; level++) {
      slots.dropCopy(block, level, after);
    }
  }

  // The end

  /// Gives host memory back: the stack has closed with `entries` in its ledger, and starts no more moves.
  public void close(List<StackEntry> entries, DeferredActions after) {
    last = entries;
    placement.undeferAll();
    stores.forEach(store -> store.close(after));
    reviewLast(after);
  }

  /// Gives device memory back: the stores have closed. Blocks on a disk stay there.
  public void storesClosed(DeferredActions after) {
    storesClosed = true;
    reviewLast(after);
    last = List.of();
  }

  private void reviewLast(DeferredActions after) {
    for (StackEntry entry : last) {
      if (entry instanceof Resident block) {
        after.review(block);
      }
    }
  }

  private void retire(Resident block, DeferredActions after) {
    queue.leave(block, after);
    StoreSlots.dropHost(block, after);
    if (!block.isMoving() && !block.isPinned() && (block.isRemoved() || storesClosed)) {
      release(block, after);
    }
  }
}
