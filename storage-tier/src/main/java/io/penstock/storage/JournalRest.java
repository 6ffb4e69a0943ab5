package io.penstock.storage;

import io.penstock.block.BlockKey;
import io.penstock.storage.engine.Location;
import io.penstock.storage.record.RecordName;
import io.penstock.tier.Rest;

/// A block at rest in a journal: where its record lies, and what tells it from any other.
final class JournalRest extends Rest {
  private final JournalStore store;
  private final Location location;
  private final long sequence;
  private final int headCrc;

  JournalRest(JournalStore store, BlockKey key, Location location, long sequence, int headCrc) {
    super(key);
    this.store = store;
    this.location = location;
    this.sequence = sequence;
    this.headCrc = headCrc;
  }

  JournalStore store() {
    return store;
  }

  Location location() {
    return location;
  }

  long sequence() {
    return sequence;
  }

  /// CRC of the record's head; in it are the CRCs of all granules.
  int headCrc() {
    return headCrc;
  }

  @Override
  protected void free() {
    store.free(new DeadRecord(new RecordName(key(), sequence), location.segment()));
  }

  @Override
  public String toString() {
    return key() + " at " + location;
  }
}
