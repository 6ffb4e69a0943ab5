package io.penstock.storage;

import io.penstock.block.BlockCorruptException;
import io.penstock.block.BlockKey;
import io.penstock.storage.engine.Location;
import io.penstock.storage.record.RecordName;
import io.penstock.tier.Rest;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/// A block at rest in a journal. Its record may be moved while it is read: whoever reads pins the segment of the place that it knows.
final class JournalRest extends Rest {
  private static final VarHandle PLACE;
  private static final Place CLOSED = new Place.Gone(new IllegalStateException("rest must be open (was closed)"));

  static {
    try {
      PLACE = MethodHandles.lookup().findVarHandle(JournalRest.class, "place", Place.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  private final JournalStore store;
  private volatile Place place;

  JournalRest(JournalStore store, BlockKey key, Place place) {
    super(key);
    this.store = store;
    this.place = place;
  }

  JournalStore store() {
    return store;
  }

  Place place() {
    return place;
  }

  Location location() {
    return place.location();
  }

  /// Its record lies at `to` now, and no longer at `from`.
  ///
  /// @return false if it was closed meanwhile: the record at `from` is dead then, and the one at `to` is nobody's
  boolean move(Place from, Place to) {
    return PLACE.compareAndSet(this, from, to);
  }

  /// Its record at `from` is damaged and will be gone: whoever reads it from now on hears of `damage`.
  boolean lose(Place from, BlockCorruptException damage) {
    return move(from, new Place.Gone(damage));
  }

  @Override
  protected void free() {
    Place last = (Place) PLACE.getAndSet(this, CLOSED);
    if (last.segment() > 0) {
      store.free(new DeadRecord(new RecordName(key(), last.sequence()), last.segment()));
    }
  }

  @Override
  public String toString() {
    return key() + " at " + place;
  }
}
