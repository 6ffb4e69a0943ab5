package io.penstock.tier;

import io.penstock.block.Block;
import io.penstock.tier.MoveQueue.Need;
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
final class Mover {
  private final StackState state;
  private final StackShape shape;
  private final int host;
  private final int levels;
  private final MoveQueue queue;
  /// Blocks whose copy waits until a store works again.
  private final Set<Resident> deferred = new LinkedHashSet<>();
  /// The entries of the ledger from the close of the stack until the close of its stores.
  private List<StackEntry> last = List.of();
  private boolean storesClosed;

  Mover(StackState state) {
    this.state = state;
    this.shape = state.shape();
    this.host = shape.host();
    this.levels = shape.levels().size();
    this.queue = new MoveQueue(state);
  }

  // Where a block belongs

  private boolean belongsOn(Resident block, int level) {
    return shape.isWriteThrough() ? level >= block.level() : level == block.level();
  }

  boolean belongsInHost(Resident block) {
    return host >= 0 && belongsOn(block, host);
  }

  private boolean has(Resident block, int level) {
    return level == host ? block.isOnHostLevel() : block.isStored(level);
  }

  /// Whether the bytes of `block` are on the level on which the ledger has it.
  boolean isOnOwnLevel(Resident block) {
    return has(block, block.level());
  }

  /// Whether `block` belongs on `level` and is not there.
  boolean lacks(Resident block, int level) {
    return belongsOn(block, level) && !has(block, level);
  }

  /// The slowest level that lacks `block` and to which it may be copied now; −1 if there is none.
  private int target(Resident block) {
    for (int level = levels - 1; level >= 0; level--) {
      if (lacks(block, level) && mayCopyTo(block, level)) {
        return level;
      }
    }
    return -1;
  }

  /// Whether to copy `block` to `level` now. A copy that repeats a faster level's may wait.
  private boolean mayCopyTo(Resident block, int level) {
    boolean own = level == block.level();
    if (state.stores().takes(level) && (own || level == host || !deferred.contains(block))) {
      return true;
    }
    deferred.add(block);
    return false;
  }

  /// Whether the own level of `block` takes no blocks now, and neither that level nor a slower one has it.
  private boolean hasNoLevel(Resident block) {
    if (state.stores().takes(block.level())) {
      return false;
    }
    for (int level = block.level(); level < levels; level++) {
      if (has(block, level)) {
        return false;
      }
    }
    return true;
  }

  /// Whether to promote `block`, whose bytes were just read from a store.
  boolean isToBePromoted(Resident block) {
    return !block.isRemoved() && !block.isReleased() && !block.isMoving() && !block.isInMemory() && !state.isClosed()
        && target(block) >= 0;
  }

  // How the stores are

  /// Has `block` reviewed again when a store begins to take blocks.
  void defer(Resident block) {
    deferred.add(block);
  }

  /// Reviews the blocks that wait for the store of `level`, which began or ceased to take or give blocks.
  void stateChanged(int level, DeferredActions after) {
    deferred.forEach(after::review);
    deferred.clear();
    queue.waitingFor(level).forEach(after::review);
  }

  // Reviewing

  /// Starts the copy that `block` needs and drops the copies it does not need. The end of a decision calls this for
  /// each block that the decision changed.
  void review(Resident block, DeferredActions after) {
    if (block.isReleased()) {
      return;
    }
    if (state.isClosed()) {
      retire(block, after);
    } else if (block.isMoving()) {
      return;
    } else if (block.isRemoved()) {
      queue.leave(block, after);
      if (!block.isPinned()) {
        release(block, after);
      }
    } else if (hasNoLevel(block)) {
      state.removals().evict(block, after);
    } else {
      arrange(block, after);
    }
  }

  private void arrange(Resident block, DeferredActions after) {
    int target = target(block);
    Need need = target < 0 ? null : need(block, target);
    MoveQueue.Wait wait = block.currentWait();
    if (wait != null && !wait.isFor(need, target)) {
      queue.leave(block, after);
    }
    if (target < 0) {
      dropSurplus(block, after);
    } else if (block.currentWait() == null && need != null) {
      move(block, need, target, after);
    }
    if (state.index().keepNumber(block)) {
      deferred.remove(block);
    }
  }

  /// What `block` needs to get to `target`; null if its bytes are on a slower level, where they stay until they are
  /// read.
  private @Nullable Need need(Resident block, int target) {
    if (block.isInMemory()) {
      return target == host ? Need.HOST_CHARGE : Need.STORE_SLOT;
    }
    int from = block.fastestStore();
    if (from <= target && !state.stores().gives(from)) {
      deferred.add(block);
      return null;
    }
    return from > target ? null : target == host ? Need.HOST_SLOT : Need.BOUNCE_SLOT;
  }

  private void move(Resident block, Need need, int target, DeferredActions after) {
    if (need == Need.STORE_SLOT && state.stores().at(target).tryTakeSlot()) {
      state.stores().at(target).put(block, after);
    } else {
      queue.add(block, need, target, after);
    }
  }

  // Dropping

  /// Drops the copies that the ledger does not want, now that all wanted copies are there. Copies on a disk stay: they
  /// cost no memory and save a later copy.
  private void dropSurplus(Resident block, DeferredActions after) {
    if (!belongsInHost(block)) {
      dropHost(block, after);
    }
    for (int level = 0; level < levels; level++) {
      if (!belongsOn(block, level) && !shape.isDisk(level)) {
        dropCopy(block, level, after);
      }
    }
  }

  private void release(Resident block, DeferredActions after) {
    block.release();
    deferred.remove(block);
    dropHost(block, after);
    for (int level = 0; level < levels; level++) {
      dropCopy(block, level, after);
    }
  }

  void dropHost(Resident block, DeferredActions after) {
    Block left = block.leaveMemory();
    if (left != null) {
      after.close(left);
    }
  }

  void dropCopy(Resident block, int level, DeferredActions after) {
    StoreCopy copy = block.removeCopy(level);
    if (copy != null) {
      state.stores().at(level).drop(copy, after);
    }
  }

  // The end

  /// Gives host memory back: the stack has closed with `entries` in its ledger, and starts no more moves.
  void close(List<StackEntry> entries, DeferredActions after) {
    last = entries;
    deferred.clear();
    state.stores().forEach(store -> store.close(after));
    reviewLast(after);
  }

  /// Gives device memory back: the stores have closed. Blocks on a disk stay there.
  void storesClosed(DeferredActions after) {
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
    dropHost(block, after);
    if (!block.isMoving() && !block.isPinned() && (block.isRemoved() || storesClosed)) {
      release(block, after);
    }
  }
}
