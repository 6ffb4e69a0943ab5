package io.penstock.stack.move;

import static java.util.Objects.requireNonNull;

import io.penstock.block.Block;
import io.penstock.budget.Permits;
import io.penstock.stack.decision.DeferredActions;
import io.penstock.stack.decision.Resident;
import io.penstock.stack.decision.StoreCopy;
import io.penstock.stack.shape.StackShape;
import org.jspecify.annotations.Nullable;

/// The slots of the stores of a `TierStack`, and the end of the copies in them. Slots are taken and freed outside
/// decisions, except with [#tryTake]; methods that take [DeferredActions] are used in decisions only.
public final class StoreSlots {
  /// By level; null for host memory, and for a store without a fixed number of slots, such as a disk.
  private final @Nullable Permits[] levels;

  /// @param waiters most blocks that may wait for a slot of one store
  public StoreSlots(StackShape shape, int waiters) {
    this.levels = new @Nullable Permits[shape.levels().size()];
    for (int level = 0; level < levels.length; level++) {
      if (level != shape.host() && !shape.isDisk(level)) {
        long slots = Math.min(shape.store(level).capacityBlocks(), Integer.MAX_VALUE);
        levels[level] = new Permits(shape.store(level).name() + " slots", slots, waiters);
      }
    }
  }

  /// Takes a slot of `level` if one is free and no block waits for one.
  boolean tryTake(int level) {
    Permits slots = levels[level];
    return slots == null || slots.tryAcquire(1);
  }

  /// Runs `granted` once a slot of `level` was taken for it.
  Permits.Ticket take(int level, Runnable granted) {
    return requireNonNull(levels[level], "slots").acquire(1, granted);
  }

  void release(int level) {
    Permits slots = levels[level];
    if (slots != null) {
      slots.release(1);
    }
  }

  // Copies in stores and in host memory

  /// Drops the bytes of `block` in host memory.
  static void dropHost(Resident block, DeferredActions after) {
    Block left = block.leaveMemory();
    if (left != null) {
      after.close(left);
    }
  }

  /// Drops the copy of `block` on `level`, if there is one. The slot becomes free when the last read of the copy has
  /// ended.
  void dropCopy(Resident block, int level, DeferredActions after) {
    StoreCopy copy = block.removeCopy(level);
    if (copy != null && copy.drop()) {
      free(level, copy, after);
    }
  }

  /// Ends a read of `copy`, which is on `level`.
  public void endRead(int level, StoreCopy copy, DeferredActions after) {
    if (copy.endRead()) {
      free(level, copy, after);
    }
  }

  private void free(int level, StoreCopy copy, DeferredActions after) {
    after.close(copy.block());
    after.then(() -> release(level));
  }
}
