package io.penstock.storage;

import io.penstock.block.BlockKey;
import io.penstock.storage.engine.Location;
import io.penstock.storage.index.RecordLocation;
import io.penstock.tier.spi.StoredBlock;

/// A block stored in a journal: a number in the `LocationTable`. Compaction may move the record at any time.
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

  RecordLocation location() {
    return store.locations().of(this, number);
  }

  Location at() {
    return location().at();
  }

  /// Closes this handle, and keeps the record.
  ///
  /// @return its number, the caller's from now on
  int dissolve() {
    if (!markClosed()) {
      throw new IllegalStateException("stored block must be open (was closed)");
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
