package io.penstock.tier;

import io.penstock.block.Block;
import io.penstock.block.BlockCorruptException;
import io.penstock.block.BlockKey;
import io.penstock.tier.TierHolds.KeyOutcome;

/// Takes blocks out of a [TierStack]: evicted, removed by a caller, or lost, each with one event. The [Mover] drops
/// their bytes when no reader and no move needs them. Used in decisions only, unless a method says otherwise.
final class Removals {
  /// How many victims of another level to examine for each block that has to go: few of these have a copy in the store.
  private static final int LOOKED_AT = 8;

  /// How many victims of a level to examine before the search ends. The next search goes on behind those that were
  /// held.
  private static final int MOST_LOOKED = 1 << 13;

  private final StackState state;
  private final String boundary;

  Removals(StackState state) {
    this.state = state;
    this.boundary = "tier " + state.shape().info().name();
  }

  /// Compares `block`, which is in host memory, with its checksums, if the stack verifies reads. Outside a decision.
  ///
  /// @throws BlockCorruptException after the block was removed
  void requireIntact(Block block) {
    if (!state.shape().options().verifyReads()) {
      return;
    }
    try {
      block.verify(boundary);
    } catch (BlockCorruptException e) {
      state.decide(after -> quarantine(block, after));
      throw e;
    }
  }

  /// Loses `block`, whose bytes in host memory are damaged. A newer block of the same key stays.
  private void quarantine(Block block, DeferredActions after) {
    state.history().corrupt(after);
    Resident resident = state.index().inMemory(block.key());
    if (resident != null && resident.hostBlock().sharesMemoryWith(block)) {
      lose(resident, "checksum mismatch", after);
    }
  }

  /// Drops the copy of `key` that the store of `level` found damaged. Copies elsewhere stay. Outside a decision.
  void damaged(int level, BlockKey key) {
    state.decide(after -> {
      if (!state.isClosed() && state.index().find(key, after) instanceof Resident block && block.isStored(level)
          && !state.shape().store(level).isIntact(block.copy(level).block())) {
        state.history().corrupt(after);
        if (block.isElsewhereThan(level)) {
          state.mover().dropCopy(block, level, after);
          after.review(block);
        } else {
          lose(block, "checksum mismatch", after);
        }
      }
    });
  }

  /// Takes `block` out because its bytes are damaged or cannot be kept.
  void lose(Resident block, String reason, DeferredActions after) {
    if (!block.isRemoved() && !block.isReleased() && !state.isClosed()) {
      state.index().remove(block, after);
      state.history().lost(block, reason, after);
    }
    after.review(block);
  }

  /// Takes `block` out because no level has room for it.
  void evict(Resident block, DeferredActions after) {
    if (!block.isRemoved() && !state.isClosed()) {
      state.index().remove(block, after);
      state.history().evicted(block, after);
    }
    after.review(block);
  }

  /// Makes room in the store of `level`: drops copies of blocks that are in memory and that no receipt promises, and
  /// evicts the next victims that no read lease and no hard pin holds.
  ///
  /// @return how many blocks it gave up
  int evictForRoom(int level, int blocks, DeferredActions after) {
    int given = 0;
    for (int from = state.shape().last(); from >= 0 && given < blocks && !state.isClosed(); from--) {
      given += evictFrom(from, level, blocks - given, after);
    }
    state.figures().evictedForRoom(given);
    return given;
  }

  /// The same of the victims of level `from`. Looks behind those that are held, as far as [#MOST_LOOKED] allows.
  private int evictFrom(int from, int level, int blocks, DeferredActions after) {
    int given = 0;
    int looked = 0;
    boolean passed = true;
    while (passed && given < blocks && looked < MOST_LOOKED) {
      passed = false;
      for (BlockKey key : state.index().victims(from, from == level ? blocks : LOOKED_AT * blocks)) {
        looked++;
        if (given == blocks || !(state.index().find(key, after) instanceof Resident block) || !block.isStored(level)) {
          continue;
        }
        if (block.isKept()) {
          state.index().passOver(block);
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
    if (!state.shape().isWriteThrough() && block.level() != level && block.isInMemory()) {
      state.mover().dropCopy(block, level, after);
      after.review(block);
    } else {
      evict(block, after);
    }
  }

  /// Removes `key`.
  ///
  /// @param force whether to remove a block that a read lease holds, too
  KeyOutcome remove(BlockKey key, boolean force, DeferredActions after) {
    if (!(state.index().find(key, after) instanceof Resident block)) {
      return absent(key);
    }
    if (block.isLeased() && !force) {
      return KeyOutcome.LEASED;
    }
    state.index().remove(block, after);
    state.history().removed(block);
    return KeyOutcome.OK;
  }

  /// Why `key` has no visible block.
  KeyOutcome absent(BlockKey key) {
    return state.writes().pending(key) != null ? KeyOutcome.NOT_READY : KeyOutcome.NOT_FOUND;
  }
}
