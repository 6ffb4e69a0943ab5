package io.penstock.tier;

import static java.util.Objects.requireNonNull;

import io.penstock.tier.spi.StoredBlock;
import io.penstock.block.Block;
import io.penstock.tier.StackEntry.Resident;
import java.util.List;

/// A block on its way from host memory to the place in a store that is kept for it.
final class Ascent implements PutLine.Turn {
  private final StackBooks books;
  private final Mover mover;
  private final Dock dock;
  private final Resident entry;

  Ascent(StackBooks books, Mover mover, Dock dock, Resident entry) {
    this.books = books;
    this.mover = mover;
    this.dock = dock;
    this.entry = entry;
  }

  @Override
  public List<Block> blocks() {
    return entry.gone ? List.of() : List.of(requireNonNull(entry.host));
  }

  @Override
  public void done(List<StoredBlock> rests, Aftermath after) {
    if (rests.isEmpty()) {
      ended(after);
      return;
    }
    mover.hearMoved(entry.atHost ? books.host : entry.fastestPlace(), dock.level(), 1, after);
    entry.moving = false;
    entry.places[dock.level()] = new Place(rests.getFirst());
    books.figures.arrived(dock.level());
    books.figures.counted(entry);
    mover.review(entry, after);
  }

  @Override
  public void failed(Throwable error, Aftermath after) {
    dock.failures().notTaken(entry, error, after);
    ended(after);
  }

  /// It did not get to the place.
  private void ended(Aftermath after) {
    entry.moving = false;
    after.then(dock::releasePlace);
    mover.review(entry, after);
  }
}
