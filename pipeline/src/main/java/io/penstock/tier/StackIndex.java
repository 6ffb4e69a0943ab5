package io.penstock.tier;

import io.penstock.block.BlockKey;
import io.penstock.pool.Ledger;
import io.penstock.tier.spi.BlockStore;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/// Which key is on which level of a [TierStack]: the ledger, and what it keeps of each key. Used in decisions only.
///
/// The ledger keeps only a number of a block whose bytes are on the last disk alone and which no reader and no move
/// needs. The ledger owns that number. The number becomes a [Resident] again when the block is asked for, or
/// leaves the ledger. Numbers that are left when the stack closes are dropped; their blocks stay on the disk.
final class StackIndex {
  private final StackShape shape;
  private final StackFigures figures;
  private final StackHistory history;
  private final AttachedStores stores;
  private final StackTiering tiering;
  private final Ledger<StackEntry> ledger;
  /// The level whose store gives the numbers, which is the last one if it is a disk; else −1.
  private final int numbered;

  StackIndex(StackShape shape, StackFigures figures, StackHistory history, AttachedStores stores) {
    this.shape = shape;
    this.figures = figures;
    this.history = history;
    this.stores = stores;
    this.tiering = new StackTiering(shape);
    this.ledger = new Ledger<>(shape.info().space().id(), shape.options().policy(), shape.ledgerCapacities());
    this.numbered = shape.isDisk(shape.last()) ? shape.last() : -1;
    ledger.gate(new LedgerGate());
  }

  // Looking up

  /// What the ledger has of `key`, without counting as a use.
  @Nullable StackEntry find(BlockKey key, DeferredActions after) {
    StackEntry entry = ledger.peek(key);
    return entry == null && ledger.number(key) >= 0 ? fromNumber(key, after) : entry;
  }

  private Resident fromNumber(BlockKey key, DeferredActions after) {
    Resident block = resident(key, ledger.number(key), ledger.level(key));
    ledger.update(key, block);
    after.review(block);
    return block;
  }

  private Resident resident(BlockKey key, int number, int level) {
    StoreCopy copy = new StoreCopy(shape.store(numbered).fromNumber(key, number));
    return Resident.counted(key, level, figures, numbered, copy);
  }

  /// The level of `key`; −1 if the ledger does not have it.
  int level(BlockKey key) {
    return ledger.level(key);
  }

  /// Which of `keys` can be read now.
  BitSet visible(List<BlockKey> keys) {
    BitSet present = new BitSet();
    for (int i = 0; i < keys.size(); i++) {
      present.set(i, isVisible(keys.get(i)));
    }
    return present;
  }

  private boolean isVisible(BlockKey key) {
    return (ledger.peek(key) instanceof Resident block && stores.isReadable(block))
        || (ledger.number(key) >= 0 && stores.gives(numbered));
  }

  /// The block of `key`, if its bytes are in host memory.
  @Nullable Resident inMemory(BlockKey key) {
    return ledger.peek(key) instanceof Resident block && block.isInMemory() ? block : null;
  }

  /// Visible blocks that `wanted` accepts, but for those that are only numbers.
  List<Resident> residents(Predicate<Resident> wanted) {
    List<Resident> found = new ArrayList<>();
    for (int level = 0; level < figures.levels(); level++) {
      ledger.forEach(level, (key, entry) -> {
        if (entry instanceof Resident block && wanted.test(block)) {
          found.add(block);
        }
      });
    }
    return found;
  }

  /// The next `count` eviction victims of `level`, or all it has.
  List<BlockKey> victims(int level, int count) {
    return ledger.next(level, count);
  }

  // Uses

  /// Counts a hit of `key`, which is on `level`. Promotes the key unless it has to be used more often for that.
  void hit(BlockKey key, int level, DeferredActions after) {
    boolean promoted = tiering.promotes(key, level);
    figures.hit(level, promoted);
    if (promoted) {
      use(key, after);
    } else {
      ledger.refresh(key);
    }
  }

  private void use(BlockKey key, DeferredActions after) {
    ledger.touch(key, new LedgerListener(after));
  }

  // Writes

  /// Enters a key that is about to be written. A block that the ledger has already, and that no store gives now, stays
  /// in it and counts as used.
  void enter(Pending pending, DeferredActions after) {
    if (find(pending.key(), after) == null) {
      pending.setListed(true);
      ledger.insert(pending.key(), pending, new LedgerListener(after));
    } else {
      use(pending.key(), after);
    }
  }

  /// Takes `pending` out of the ledger, if it is there.
  void unlist(Pending pending) {
    if (pending.isListed()) {
      ledger.remove(pending.key());
      pending.setListed(false);
    }
  }

  /// `block` was written: it takes the place of its [Pending] in the ledger.
  void show(Resident block, DeferredActions after) {
    ledger.update(block.key(), block);
    block.show();
    after.review(block);
  }

  /// `block` was written, and no decision has entered it before: it is the most recently used from now on.
  void insert(Resident block, DeferredActions after) {
    block.show();
    ledger.insert(block.key(), block, new LedgerListener(after));
    after.review(block);
  }

  // Blocks that a store found

  /// Enters `block` on its level.
  void enter(Resident block, DeferredActions after) {
    block.show();
    history.stored(block.key());
    ledger.insertAt(block.level(), block.key(), block, new LedgerListener(after));
    after.review(block);
  }

  /// Enters a block that the store of `at` has under `number` on `level`; false if the ledger cannot keep a number of
  /// it.
  boolean enter(BlockKey key, int number, int at, int level, DeferredActions after) {
    if (at != numbered) {
      return false;
    }
    figures.stored(numbered, 1);
    figures.inStoresOnly(1);
    figures.visible(level, 1);
    history.stored(key);
    ledger.insertNumberAt(level, key, number, new LedgerListener(after));
    return true;
  }

  /// Keeps only a number of `block`, if that is enough.
  ///
  /// @return whether it does, and `block` is over
  boolean keepNumber(Resident block) {
    if (numbered < 0 || !block.isIdleIn(numbered)) {
      return false;
    }
    int number = shape.store(numbered).toNumber(block.copy(numbered).block());
    if (number == BlockStore.NO_NUMBER) {
      return false;
    }
    ledger.updateNumber(block.key(), number);
    block.becomeNumber(numbered);
    return true;
  }

  // Leaving

  /// Takes `block` out of the ledger.
  void remove(Resident block, DeferredActions after) {
    ledger.remove(block.key());
    block.remove();
    after.review(block);
  }

  /// Takes everything out of the ledger.
  List<StackEntry> clear() {
    return ledger.clear();
  }

  /// Follows what the ledger moves and evicts in one decision.
  private final class LedgerListener implements Ledger.Moves<StackEntry> {
    private final DeferredActions after;

    LedgerListener(DeferredActions after) {
      this.after = after;
    }

    @Override
    public void movedNumber(BlockKey key, int number, int from, int level) {
      if (level < figures.levels()) {
        figures.visible(from, -1);
        figures.visible(level, 1);
      } else {
        moved(resident(key, number, from), level);
      }
    }

    @Override
    public void moved(BlockKey key, StackEntry entry, int level) {
      switch (entry) {
        case Pending pending -> pending.setListed(level < figures.levels());
        case Resident block -> moved(block, level);
      }
    }

    private void moved(Resident block, int level) {
      if (level < figures.levels()) {
        block.moveTo(level);
      } else {
        block.remove();
        history.evicted(block.key(), after);
      }
      after.review(block);
    }
  }

  /// Says which level takes a block that is demoted. A store that takes nothing now still keeps a copy that it has.
  private final class LedgerGate implements Ledger.Gate<StackEntry> {
    @Override
    public boolean takes(StackEntry entry, int level) {
      if (entry instanceof Resident block) {
        return block.isStored(level) || (stores.takes(level) && tiering.offloads(block.key(), level));
      }
      return stores.takes(level);
    }

    @Override
    public boolean isInUse(StackEntry entry) {
      return !shape.options().exact() && entry instanceof Resident block && block.isInUse();
    }

    @Override
    public boolean takesNumber(int level) {
      return level == numbered || stores.takes(level);
    }
  }
}
