package io.penstock.tier;

import io.penstock.tier.spi.BlockStore;
import io.penstock.tier.spi.StoredBlock;
import io.penstock.block.BlockKey;
import io.penstock.tier.StackEntry.Resident;

/// Enters what a store found into the books. Under the stack's lock.
final class Recovering implements BlockStore.Recovered {
  private final StackBooks books;
  private final int level;
  private final Aftermath after;

  Recovering(StackBooks books, int level, Aftermath after) {
    this.books = books;
    this.level = level;
    this.after = after;
  }

  @Override
  public void stored(StoredBlock rest) {
    if (books.peek(rest.key()) instanceof Resident faster) { // of another store
      if (faster.places[level] == null) {
        faster.places[level] = new Place(rest);
      } else {
        after.close(rest);
      }
      books.changed(faster);
      return;
    }
    books.unlistWrite(rest.key());
    Resident resident = new Resident(rest.key(), start(), books.levels.size());
    resident.places[level] = new Place(rest);
    books.enter(resident, after);
  }

  @Override
  public void numbered(BlockKey key, int number) {
    books.unlistWrite(key);
    if (books.peek(key) instanceof Resident || !books.enter(key, number, level, start(), after)) {
      stored(books.store(level).fromNumber(key, number));
    }
  }

  @Override
  public void damaged(BlockKey key) {
    books.departures.countCorrupt(after);
  }

  /// Written through, the last level holds as much as all of the books; what it holds rises when it is read.
  private int start() {
    return books.options.mode() == StackMode.WRITE_THROUGH ? 0 : level;
  }
}
