package io.penstock.tier;

import static java.util.Objects.requireNonNull;

import io.penstock.tier.spi.BlockStore;
import io.penstock.tier.spi.StoredBlock;
import io.penstock.block.BlockKey;
import io.penstock.pool.Ledger;
import io.penstock.tier.StackEntry.Resident;
import org.jspecify.annotations.Nullable;

/// Blocks of a [TierStack] that rest on its last disk alone, and that nobody reads, moves or was promised: the ledger
/// has the number of their place, and no object is kept of them. They are made again when somebody asks for them.
///
/// A number in the ledger is owned by the ledger. It becomes a [StoredBlock] again before its block leaves the books; those
/// that are there when the stack closes are dropped with it, and what they name stays on the disk.
///
/// All of it under the stack's lock.
final class ColdBlocks {
  private final StackBooks books;
  private final Ledger<StackEntry> ledger;
  /// The last level, if it is a disk, else −1.
  private final int level;

  ColdBlocks(StackBooks books, Ledger<StackEntry> ledger) {
    this.books = books;
    this.ledger = ledger;
    int last = books.levels.size() - 1;
    this.level = books.levels.get(last).medium() == Medium.DISK ? last : -1;
  }

  /// Whether `key` is a cold block, and can be had now.
  boolean has(BlockKey key) {
    return ledger.number(key) >= 0 && books.docks.gives(level);
  }

  /// The block of `key` as an object again, to be looked after with [Mover#review] in the end; null if it is not cold.
  @Nullable Resident fromNumber(BlockKey key) {
    int number = ledger.number(key);
    if (number < 0) {
      return null;
    }
    Resident resident = resident(key, number, ledger.level(key));
    ledger.update(key, resident);
    return resident;
  }

  private Resident resident(BlockKey key, int number, int at) {
    Resident resident = new Resident(key, at, books.levels.size());
    resident.places[level] = new Place(books.store(level).fromNumber(key, number));
    books.figures.warmed(resident);
    return resident;
  }

  /// Keeps just a number of `resident`, if that will do; whether it did.
  boolean toNumber(Resident resident) {
    if (level < 0 || !resident.isColdAt(level)) {
      return false;
    }
    int number = books.store(level).toNumber(requireNonNull(resident.places[level], "place").rest);
    if (number == BlockStore.NO_NUMBER) {
      return false;
    }
    ledger.updateNumber(resident.key, number);
    resident.places[level] = null;
    resident.released = true;
    return true;
  }

  /// A block was found at opening on `at`, and is not in the books; it enters them on `start`.
  ///
  /// @return false if it cannot be cold
  boolean found(BlockKey key, int number, int at, int start, Ledger.Moves<StackEntry> moves) {
    if (at != level) {
      return false;
    }
    books.figures.cold();
    books.figures.shown(start, 1);
    books.events.append(sequence -> new TierEvent.Stored(sequence, key));
    ledger.insertNumberAt(start, key, number, moves);
    return true;
  }

  /// The ledger moved a cold block.
  ///
  /// @return the block, if it left the ledger; its figures are still those of `from`
  @Nullable Resident moved(BlockKey key, int number, int from, int to) {
    if (to == books.levels.size()) {
      return resident(key, number, from);
    }
    books.figures.shown(from, -1);
    books.figures.shown(to, 1);
    return null;
  }
}
