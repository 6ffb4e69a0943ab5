package io.penstock.block;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.util.List;

/// Slots of an arena, held for blocks whose keys are not known yet, such as the blocks that a peer is about to send.
///
/// Closing gives back the slots that did not become drafts. Safe from any thread.
public final class HeldSlots extends Owned {
  private final SlabPart arena;
  @GuardedBy("this") private int left;

  /// Takes over `slots`, which the caller has acquired.
  HeldSlots(SlabPart arena, int slots) {
    this.arena = arena;
    this.left = slots;
  }

  /// Slots that have not become drafts yet.
  public synchronized int left() {
    return left;
  }

  /// Turns one slot into a draft.
  ///
  /// @throws IllegalStateException if none is left
  public BlockDraft draft(BlockKey key) {
    return drafts(List.of(key)).getFirst();
  }

  /// Turns a slot for each key into a draft.
  ///
  /// @throws IllegalStateException if fewer are left
  public List<BlockDraft> drafts(List<BlockKey> keys) {
    synchronized (this) {
      if (left < keys.size()) {
        throw new IllegalStateException(
            "slots left must be >= " + keys.size() + " (was " + left + ", closed " + isClosed() + ")");
      }
      left -= keys.size();
    }
    return arena.lend(keys);
  }

  /// Gives back `count` of the slots that are left.
  ///
  /// @throws IllegalArgumentException if fewer are left
  public void giveBack(int count) {
    synchronized (this) {
      if (count < 1 || count > left) {
        throw new IllegalArgumentException("count must be in [1, " + left + "], the slots left (was " + count + ")");
      }
      left -= count;
    }
    arena.giveUp(count);
  }

  @Override
  protected void free() {
    int rest;
    synchronized (this) {
      rest = left;
      left = 0;
    }
    if (rest > 0) {
      arena.giveUp(rest);
    }
  }
}
