package io.penstock.storage;

import io.penstock.block.BlockKey;
import io.penstock.storage.engine.Location;
import io.penstock.tier.spi.StoredBlock;

/// A block at rest in a journal: its number in the [PlaceTable], which is the rest's. The record may be moved while it
/// is read: whoever reads pins the segment of the place that it knows.
final class StoredRecord extends StoredBlock {
  private final JournalStore store;
  private final int number;

  StoredRecord(JournalStore store, BlockKey key, int number) {
    super(key);
    this.store = store;
    this.number = number;
  }

  JournalStore store() {
    return store;
  }

  int number() {
    return number;
  }

  /// As in [PlaceTable#of].
  Place place() {
    return store.places().of(this);
  }

  Location location() {
    return place().location();
  }

  /// Ends this rest, but not what rests.
  ///
  /// @return its number, the caller's from now on
  int dissolve() {
    if (!markClosed()) {
      throw new IllegalStateException("rest must be open (was closed)");
    }
    return number;
  }

  @Override
  protected void free() {
    store.free(key(), number);
  }

  @Override
  public String toString() {
    return key() + " in tier " + store.name();
  }
}
