package io.penstock.stack.decision;

import static java.util.Objects.requireNonNull;

import io.penstock.block.Block;
import io.penstock.block.BlockKey;
import io.penstock.pool.Hold;
import org.jspecify.annotations.Nullable;

/// A visible block of a `TierStack`: the places of its bytes, and the readers and moves that need them. The bytes are
/// in host memory, in stores, or in both while the block moves. Each change updates the [StackFigures]. Used in
/// decisions only.
public final class Resident implements StackEntry {
  /// The read leases, the pin and the group that keep one block.
  public interface Keeper {
    /// The strongest reason why the block stays.
    Hold strongest();

    /// Whether nothing keeps the block any more.
    boolean isEmpty();

    /// Ends all that keeps `block`, which left the ledger.
    void end(Resident block);
  }

  /// The wait of a block for memory or for a slot of a store.
  public interface Wait {
    /// The level to which the block moves.
    int target();
  }

  private final BlockKey key;
  private final StackFigures figures;
  /// The copies in stores, by level; null where there is none.
  private final @Nullable StoreCopy[] copies;
  private int level;
  private boolean shown;
  private boolean removed;
  private boolean released;
  private @Nullable Block hostBlock;
  private boolean onHostLevel;
  private int pins;
  private boolean moving;
  private @Nullable Wait wait;
  /// Null for a block that no read lease and no pin holds, and that is in no group.
  private @Nullable Keeper keeper;
  private long told;

  /// A block that has no bytes yet, and that the figures do not count yet.
  ///
  /// @param level on which the ledger has the block
  public Resident(BlockKey key, int level, StackFigures figures) {
    this.key = key;
    this.level = level;
    this.figures = figures;
    this.copies = new @Nullable StoreCopy[figures.levels()];
  }

  /// A block of which the ledger had a number so far. The figures count it already.
  public static Resident counted(BlockKey key, int level, StackFigures figures, int store, StoreCopy copy) {
    Resident block = new Resident(key, level, figures);
    block.copies[store] = copy;
    block.told = 1L << store;
    block.shown = true;
    return block;
  }

  @Override
  public BlockKey key() {
    return key;
  }

  // In the ledger

  /// The level on which the ledger has the block.
  public int level() {
    return level;
  }

  /// Makes the block visible, and counts it so.
  public void show() {
    figures.visible(level, 1);
    shown = true;
    publish();
  }

  /// Publishes the place of the bytes to readers without the lock. A block that moves gets its new place before it
  /// loses the old one, so readers find it at any time.
  private void publish() {
    if (shown) {
      figures.readable(key, places());
    }
  }

  /// Places of its bytes, see [StackFigures#places].
  public int places() {
    return figures.places(hostBlock != null, copies);
  }

  /// Records that the ledger moved the block to level `to`.
  public void moveTo(int to) {
    figures.visible(level, -1);
    level = to;
    figures.visible(level, 1);
  }

  /// Records that the block left the ledger. The `Mover` drops its bytes when no reader and no move needs them.
  public void remove() {
    figures.visible(level, -1);
    figures.readable(key, 0);
    shown = false;
    removed = true;
    if (keeper != null) {
      keeper.end(this);
      keeper = null;
    }
  }

  public boolean isRemoved() {
    return removed;
  }

  /// The levels with its bytes, a bit each, as of the last event of the block.
  public long told() {
    return told;
  }

  public void tell(long levels) {
    told = levels;
  }

  /// Ends this object: the caller drops its bytes next.
  public void release() {
    released = true;
  }

  /// Whether this object has ended: its bytes are dropped, or the ledger keeps only its number.
  public boolean isReleased() {
    return released;
  }

  /// Ends this object because the ledger keeps a number instead. The figures go on counting the block.
  public void becomeNumber(int store) {
    shown = false;
    copies[store] = null;
    released = true;
  }

  // In host memory

  public boolean isInMemory() {
    return hostBlock != null;
  }

  /// The stack's handle on the bytes in host memory. The block must be in memory.
  public Block hostBlock() {
    return requireNonNull(hostBlock, "block must be in memory");
  }

  /// Whether the host level, and not a part for moving blocks, pays for its host memory.
  public boolean isOnHostLevel() {
    return onHostLevel;
  }

  /// Takes over `block`, its bytes in host memory.
  public void land(Block block, boolean charged) {
    boolean before = isInStoresOnly();
    hostBlock = block;
    setOnHostLevel(charged);
    recount(before);
  }

  /// Makes the host level pay for its host memory from now on.
  public void chargeToHostLevel() {
    setOnHostLevel(true);
  }

  /// Gives up its bytes in host memory.
  ///
  /// @return the handle, for the caller to close; null if the block was not in memory
  public @Nullable Block leaveMemory() {
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
  public boolean isInUse() {
    return pins > 0 || (hostBlock != null && figures.isHeld(hostBlock));
  }

  // In stores

  public boolean isStored(int store) {
    return copies[store] != null;
  }

  /// The copy in the store of level `store`, which must have one.
  public StoreCopy copy(int store) {
    return requireNonNull(copies[store], "block must be stored");
  }

  public void addCopy(int store, StoreCopy copy) {
    boolean before = isInStoresOnly();
    copies[store] = copy;
    figures.stored(store, 1);
    recount(before);
  }

  /// Gives up the copy in the store of level `store`.
  ///
  /// @return the copy, for the caller to drop; null if that store has none
  public @Nullable StoreCopy removeCopy(int store) {
    StoreCopy copy = copies[store];
    if (copy != null) {
      boolean before = isInStoresOnly();
      copies[store] = null;
      figures.stored(store, -1);
      recount(before);
    }
    return copy;
  }

  /// The level of the fastest store that has a copy; −1 if no store has one.
  public int fastestStore() {
    for (int i = 0; i < copies.length; i++) {
      if (copies[i] != null) {
        return i;
      }
    }
    return -1;
  }

  /// Whether the bytes are also in host memory or in another store.
  public boolean isElsewhereThan(int store) {
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
    publish();
    boolean now = isInStoresOnly();
    if (now != before) {
      figures.inStoresOnly(now ? 1 : -1);
    }
  }

  // Read leases and pins

  /// Its read leases, its pin and its group; null if it has none of them.
  public @Nullable Keeper keeper() {
    return keeper;
  }

  public void keepBy(@Nullable Keeper next) {
    keeper = next;
  }

  /// Forgets its keeper if that is empty, so that the ledger may keep a number of the block.
  public void holdEnded(DeferredActions after) {
    if (keeper != null && keeper.isEmpty()) {
      keeper = null;
      after.review(this);
    }
  }

  /// The strongest reason of its keeper why it stays.
  public Hold strongestHold() {
    return keeper == null ? Hold.NONE : keeper.strongest();
  }

  /// Whether a read lease or a hard pin holds it.
  public boolean isKept() {
    Hold hold = strongestHold();
    return hold == Hold.LEASE || hold == Hold.HARD_PIN;
  }

  public boolean isLeased() {
    return strongestHold() == Hold.LEASE;
  }

  /// The figures that its changes update.
  public StackFigures figures() {
    return figures;
  }

  // Readers and moves

  /// Keeps the bytes for a reader that holds no share of the memory yet.
  public void pin() {
    pins++;
  }

  public void unpin(DeferredActions after) {
    pins--;
    after.review(this);
  }

  public boolean isPinned() {
    return pins > 0;
  }

  /// Records that a copy to or from a store has begun. One copy at a time.
  public void startMove() {
    moving = true;
  }

  public void endMove(DeferredActions after) {
    moving = false;
    after.review(this);
  }

  public boolean isMoving() {
    return moving;
  }

  /// The wait of its next move; null if it does not wait.
  public @Nullable Wait currentWait() {
    return wait;
  }

  public void waitFor(Wait next) {
    wait = next;
  }

  /// Ends the wait `over`; false if that wait had ended before.
  public boolean endWait(Wait over) {
    if (!over.equals(wait)) {
      return false;
    }
    wait = null;
    return true;
  }

  /// Whether the bytes are in the store of level `store` alone, and no reader and no move needs them. Then the number
  /// of the stored block is enough.
  public boolean isIdleIn(int store) {
    StoreCopy copy = copies[store];
    return !removed && !moving && wait == null && pins == 0 && keeper == null && copy != null && !copy.isRead()
        && !isElsewhereThan(store);
  }
}
