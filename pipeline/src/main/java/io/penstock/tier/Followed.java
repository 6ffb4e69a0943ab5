package io.penstock.tier;

import io.penstock.block.BlockKey;
import io.penstock.pool.Ledger;
import io.penstock.tier.StackEntry.Pending;
import io.penstock.tier.StackEntry.Resident;

/// Notes what the ledger of a [TierStack] moves, or evicts, in one decision. Under the stack's lock.
final class Followed implements Ledger.Moves<StackEntry> {
  private final StackBooks books;
  private final ColdBlocks cold;
  private final Aftermath after;

  Followed(StackBooks books, ColdBlocks cold, Aftermath after) {
    this.books = books;
    this.cold = cold;
    this.after = after;
  }

  @Override
  public void movedNumber(BlockKey key, int number, int from, int level) {
    Resident leaving = cold.moved(key, number, from, level);
    if (leaving != null) {
      moved(leaving, level);
    }
  }

  @Override
  public void moved(BlockKey key, StackEntry entry, int level) {
    switch (entry) {
      case Pending pending -> pending.listed = level < books.levels.size();
      case Resident resident -> moved(resident, level);
    }
  }

  private void moved(Resident resident, int level) {
    books.figures.shown(resident, -1);
    if (level == books.levels.size()) {
      books.departures.evicted(resident.key, after);
      resident.gone = true;
    } else {
      resident.level = level;
      books.figures.shown(resident, 1);
    }
    books.disturbed(resident);
  }
}
