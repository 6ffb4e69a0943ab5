package io.penstock.tier;

import static java.util.Objects.requireNonNull;

import io.penstock.block.Block;
import io.penstock.block.BlockKey;
import org.jspecify.annotations.Nullable;

/// A visible block of a [TierStack]: where its bytes are, and who needs them. The bytes are in host memory, in stores,
/// or in both while they move. Counts itself in the [StackFigures]. Used in decisions only.
final class Resident implements StackEntry {
  private final BlockKey key;
  private final StackFigures figures;
  /// Its bytes in stores, by level; null where there are none.
  private final @Nullable StoreCopy[] copies;
  private int level;
  private boolean removed;
  private boolean released;
  private @Nullable Block hostBlock;
  private boolean onHostLevel;
  private int pins;
  private boolean moving;
  private MoveQueue.@Nullable Wait wait;

  /// A block whose bytes are nowhere yet, and which is not counted yet.
  ///
  /// @param level the ledger's
  Resident(BlockKey key, int level, StackFigures figures) {
    this.key = key;
    this.level = level;
    this.figures = figures;
    this.copies = new @Nullable StoreCopy[figures.levels()];
  }

  /// A block that was a number in the ledger, and is counted already.
  static Resident counted(BlockKey key, int level, StackFigures figures, int store, StoreCopy copy) {
    Resident block = new Resident(key, level, figures);
    block.copies[store] = copy;
    return block;
  }

  @Override
  public BlockKey key() {
    return key;
  }

  // In the ledger

  /// The level that the ledger put it on.
  int level() {
    return level;
  }

  /// It became visible.
  void show() {
    figures.visible(level, 1);
  }

  /// The ledger moved it to `to`.
  void moveTo(int to) {
    figures.visible(level, -1);
    level = to;
    figures.visible(level, 1);
  }

  /// It left the ledger. Its bytes go when no reader and no copy needs them.
  void remove() {
    figures.visible(level, -1);
    removed = true;
  }

  boolean isRemoved() {
    return removed;
  }

  /// The stack lets go of it: its bytes are dropped next.
  void release() {
    released = true;
  }

  /// Whether this object is over: its bytes are gone, or the ledger keeps only its number.
  boolean isReleased() {
    return released;
  }

  /// The ledger keeps a number instead of this object, which stays counted as it is.
  void becomeNumber(int store) {
    copies[store] = null;
    released = true;
  }

  // In host memory

  boolean isInMemory() {
    return hostBlock != null;
  }

  /// The stack's own handle on its bytes in host memory, which are there.
  Block hostBlock() {
    return requireNonNull(hostBlock, "block must be in memory");
  }

  /// Whether its bytes are in host memory and charged to the host level, not to slots for blocks that move.
  boolean isOnHostLevel() {
    return onHostLevel;
  }

  /// Takes over `block`, the bytes in host memory.
  void land(Block block, boolean charged) {
    boolean before = isInStoresOnly();
    hostBlock = block;
    setOnHostLevel(charged);
    recount(before);
  }

  /// The host level pays for its memory from now on.
  void chargeToHostLevel() {
    setOnHostLevel(true);
  }

  /// Gives up its bytes in host memory.
  ///
  /// @return the handle, to be closed; null if it has none
  @Nullable Block leaveMemory() {
    Block left = hostBlock;
    boolean before = isInStoresOnly();
    hostBlock = null;
    setOnHostLevel(false);
    recount(before);
    return left;
  }

  private void setOnHostLevel(boolean now) {
    if (now != onHostLevel) {
      onHostLevel = now;
      figures.onHostLevel(now ? 1 : -1);
    }
  }

  /// Whether a reader or a move holds its bytes in host memory, so that an eviction would free none.
  boolean isInUse() {
    return pins > 0 || (hostBlock != null && hostBlock.isShared());
  }

  // In stores

  boolean isStored(int store) {
    return copies[store] != null;
  }

  /// Its bytes in the store of level `store`, which has them.
  StoreCopy copy(int store) {
    return requireNonNull(copies[store], "block must be stored");
  }

  void addCopy(int store, StoreCopy copy) {
    boolean before = isInStoresOnly();
    copies[store] = copy;
    figures.stored(store, 1);
    recount(before);
  }

  /// Gives up its bytes in the store of level `store`.
  ///
  /// @return the copy, to be dropped; null if it has none
  @Nullable StoreCopy removeCopy(int store) {
    StoreCopy copy = copies[store];
    if (copy != null) {
      boolean before = isInStoresOnly();
      copies[store] = null;
      figures.stored(store, -1);
      recount(before);
    }
    return copy;
  }

  /// The fastest store that has it; −1 if none has.
  int fastestStore() {
    for (int i = 0; i < copies.length; i++) {
      if (copies[i] != null) {
        return i;
      }
    }
    return -1;
  }

  /// Whether its bytes are anywhere but in the store of level `store`.
  boolean isElsewhereThan(int store) {
    for (int i = 0; i < copies.length; i++) {
      if (i != store && copies[i] != null) {
        return true;
      }
    }
    return hostBlock != null;
  }

  private boolean isInStoresOnly() {
    return hostBlock == null && fastestStore() >= 0;
  }

  private void recount(boolean before) {
    boolean now = isInStoresOnly();
    if (now != before) {
      figures.inStoresOnly(now ? 1 : -1);
    }
  }

  // Readers and moves

  /// Promises its bytes to a reader that holds no share of its memory yet.
  void pin() {
    pins++;
  }

  void unpin(DeferredActions after) {
    pins--;
    after.review(this);
  }

  boolean isPinned() {
    return pins > 0;
  }

  /// A copy to or from a store begins, to move it. One at a time.
  void startMove() {
    moving = true;
  }

  void endMove(DeferredActions after) {
    moving = false;
    after.review(this);
  }

  boolean isMoving() {
    return moving;
  }

  /// What its move waits for; null for nothing.
  MoveQueue.@Nullable Wait currentWait() {
    return wait;
  }

  void waitFor(MoveQueue.Wait next) {
    wait = next;
  }

  /// Ends `over`; false if it waits for that no more.
  boolean endWait(MoveQueue.Wait over) {
    if (wait != over) {
      return false;
    }
    wait = null;
    return true;
  }

  /// Whether its bytes are in the store of level `store` alone, and no reader and no move needs them: then the number
  /// of its stored block is enough.
  boolean isIdleIn(int store) {
    StoreCopy copy = copies[store];
    return !removed && !moving && wait == null && pins == 0 && copy != null && !copy.isRead()
        && !isElsewhereThan(store);
  }
}
