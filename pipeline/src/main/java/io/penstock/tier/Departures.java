package io.penstock.tier;

import io.penstock.block.Block;
import io.penstock.block.BlockCorruptException;
import io.penstock.block.BlockKey;
import io.penstock.pool.Ledger;
import io.penstock.tier.StackEntry.Resident;

/// How blocks leave a [TierStack]: evicted, given back, removed, or lost; each with its event, once. Their bytes go
/// when nobody reads or moves them ([Mover]).
final class Departures {
  /// Blocks above a store that are looked at for each that has to go: few of them have a copy there.
  private static final int LOOKED_AT = 8;

  private final StackBooks books;
  private final Ledger<StackEntry> ledger;

  Departures(StackBooks books, Ledger<StackEntry> ledger) {
    this.books = books;
    this.ledger = ledger;
  }

  /// Compares `block`, which is in host memory, with its checksums, if reads are verified. Not under the lock.
  ///
  /// @throws BlockCorruptException after the block was removed
  void requireSound(Block block) {
    if (!books.options.verifyReads()) {
      return;
    }
    try {
      block.verify("tier " + books.info.name());
    } catch (BlockCorruptException e) {
      quarantine(block);
      throw e;
    }
  }

  /// Removes `block`, whose bytes in host memory differ from their checksum, so that nobody gets it again. A newer
  /// block of the same key stays.
  private void quarantine(Block block) {
    Aftermath after = books.aftermath();
    synchronized (books.lock) {
      countCorrupt(after);
      if (ledger.peek(block.key()) instanceof Resident resident && resident.host != null
          && resident.host.sharesMemoryWith(block)) {
        lose(resident, "checksum mismatch", after);
      }
    }
    after.run();
  }

  /// The store of `level` found the block of `key` damaged: what else there is of it stays. Not under the lock.
  void damaged(int level, BlockKey key) {
    Aftermath after = books.aftermath();
    synchronized (books.lock) {
      if (!books.isClosedNow() && books.peek(key) instanceof Resident resident && resident.places[level] != null
          && !books.store(level).isIntact(resident.places[level].rest)) {
        countCorrupt(after);
        if (resident.hasOtherThan(level)) {
          books.mover.dropPlace(resident, level, after);
          books.disturbed(resident);
        } else {
          lose(resident, "checksum mismatch", after);
        }
      }
      books.reviewMoved(after);
    }
    after.run();
  }

  // All below under the lock

  /// The block leaves because there is no place for it.
  void evict(Resident resident, Aftermath after) {
    if (!resident.gone && !books.isClosedNow()) {
      strike(resident);
      evicted(resident.key, after);
    }
    books.mover.review(resident, after);
  }

  /// Gives up blocks that rest in the store of `level`: copies of what is wanted higher up first where nothing else is
  /// promised, then who would leave next.
  int giveBack(int level, int blocks, Aftermath after) {
    int given = 0;
    for (int from = books.levels.size() - 1; from >= 0 && given < blocks && !books.isClosedNow(); from--) {
      for (BlockKey key : ledger.next(from, from == level ? blocks : LOOKED_AT * blocks)) {
        if (given < blocks && books.peek(key) instanceof Resident resident && resident.places[level] != null) {
          giveBack(resident, level, after);
          given++;
        }
      }
    }
    books.reviewMoved(after);
    books.figures.givenBack += given;
    return given;
  }

  private void giveBack(Resident resident, int level, Aftermath after) {
    if (books.options.mode() == StackMode.EXCLUSIVE && resident.level != level && resident.host != null) {
      books.mover.dropPlace(resident, level, after);
    } else {
      evict(resident, after);
    }
  }

  void evicted(BlockKey key, Aftermath after) {
    books.figures.evicted++;
    books.events.append(sequence -> new TierEvent.Evicted(sequence, key));
    after.hear(() -> books.listener.evicted(books.blockBytes()));
  }

  /// Removes `key` at somebody's wish; false if it is not visible.
  boolean remove(BlockKey key) {
    if (!(books.peek(key) instanceof Resident resident)) {
      return false;
    }
    strike(resident);
    books.disturbed(resident);
    books.events.append(sequence -> new TierEvent.Removed(sequence, key));
    return true;
  }

  private void strike(Resident resident) {
    ledger.remove(resident.key);
    books.figures.shown(resident, -1);
    resident.gone = true;
  }

  /// The block is gone against the stack's will.
  void lose(Resident resident, String reason, Aftermath after) {
    if (!resident.gone && !resident.released && !books.isClosedNow()) {
      strike(resident);
      books.events.append(sequence -> new TierEvent.Lost(sequence, resident.key, reason));
      after.hear(() -> books.listener.lost(1));
    }
    books.mover.review(resident, after);
  }

  void countCorrupt(Aftermath after) {
    books.figures.corrupt++;
    after.hear(books.listener::corrupt);
  }
}
