package io.penstock.stack.move;

import io.penstock.stack.decision.Decisions;
import io.penstock.stack.decision.DeferredActions;
import io.penstock.stack.decision.Resident;
import io.penstock.stack.ledger.LevelStates;
import io.penstock.stack.shape.StackShape;
import java.util.LinkedHashSet;
import java.util.Set;

/// Where the blocks of a `TierStack` belong, and which of them wait to get there. A copy that repeats a faster level's
/// may wait until a store takes blocks. Used in decisions only.
public final class Placement {
  private final Decisions decisions;
  private final StackShape shape;
  private final LevelStates states;
  private final int host;
  private final int levels;
  /// Blocks whose copy waits until a store works again.
  private final Set<Resident> deferred = new LinkedHashSet<>();
  /// Blocks that wait for memory or for a slot.
  private final Set<Resident> waiting = new LinkedHashSet<>();

  public Placement(Decisions decisions, StackShape shape, LevelStates states) {
    this.decisions = decisions;
    this.shape = shape;
    this.states = states;
    this.host = shape.host();
    this.levels = shape.levels().size();
  }

  // Where a block belongs

  boolean belongsOn(Resident block, int level) {
    return shape.isWriteThrough() ? level >= block.level() : level == block.level();
  }

  public boolean belongsInHost(Resident block) {
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
  int target(Resident block) {
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
    if (states.takes(level) && (own || level == host || !deferred.contains(block))) {
      return true;
    }
    deferred.add(block);
    return false;
  }

  /// Whether the own level of `block` takes no blocks now, and neither that level nor a slower one has it.
  boolean hasNoLevel(Resident block) {
    if (states.takes(block.level())) {
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
  public boolean isToBePromoted(Resident block) {
    return !block.isRemoved() && !block.isReleased() && !block.isMoving() && !block.isInMemory()
        && !decisions.isClosed() && target(block) >= 0;
  }

  // Blocks that wait

  /// Lets a store that begins to take blocks review `block` again.
  void defer(Resident block) {
    deferred.add(block);
  }

  void undefer(Resident block) {
    deferred.remove(block);
  }

  void undeferAll() {
    deferred.clear();
  }

  /// `block` begins the wait `next` for memory or for a slot.
  void startWait(Resident block, Resident.Wait next) {
    block.waitFor(next);
    waiting.add(block);
  }

  /// Ends the wait `over` of `block`; false if it had ended before.
  boolean endWait(Resident block, Resident.Wait over) {
    return block.endWait(over) && waiting.remove(block);
  }

  /// Reviews the blocks that wait for the store of `level`, which began or ceased to take or give blocks.
  void stateChanged(int level, DeferredActions after) {
    deferred.forEach(after::review);
    deferred.clear();
    for (Resident block : waiting) {
      Resident.Wait wait = block.currentWait();
      if (wait != null && wait.target() == level) {
        after.review(block);
      }
    }
  }
}
