package io.penstock.storage;

import io.penstock.block.BlockKey;
import io.penstock.block.SpaceId;
import io.penstock.storage.record.RecordName;
import io.penstock.storage.record.RecordNames;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// The blocks that an opening finds: the newest record of each, until the tier takes them. One thread.
final class FoundBlocks {
  private final SpaceId space;
  private final PlaceTable places;
  private final RecordNames names = new RecordNames();
  /// Records that a newer one of the same block replaces, and that no removal names.
  private final Map<RecordName, DeadRecord> replaced = new HashMap<>();

  /// Takes over blocks one by one.
  @FunctionalInterface
  interface Taker {
    /// @param number of the block in the [PlaceTable], now the taker's
    void take(BlockKey key, int number);
  }

  FoundBlocks(SpaceId space, PlaceTable places) {
    this.space = space;
    this.places = places;
  }

  /// Blocks that count.
  int size() {
    return names.live();
  }

  boolean contains(BlockKey key) {
    int row = names.row(key.hash());
    return row != RecordNames.NONE && names.number(row) != RecordNames.NONE;
  }

  /// A record was found.
  ///
  /// @return false if it is a copy of one that was found before
  boolean add(BlockKey key, Place place) {
    int row = names.row(key.hash());
    if (row != RecordNames.NONE && names.number(row) != RecordNames.NONE) {
      long there = names.sequence(row);
      if (there == place.sequence()) {
        return false;
      }
      if (there > place.sequence()) {
        replaced.put(new RecordName(key, place.sequence()),
            new DeadRecord(new RecordName(key, place.sequence()), place.segment()));
        return true;
      }
      DeadRecord older = drop(row);
      replaced.put(older.named(), older);
    }
    names.put(key.hash(), place.sequence(), places.add(place));
    return true;
  }

  /// Forgets the block of a record.
  ///
  /// @return what is dead now; null if there is no such record
  @Nullable DeadRecord remove(RecordName name) {
    int row = name.key().space().equals(space) ? names.row(name.key().hash()) : RecordNames.NONE;
    if (row == RecordNames.NONE || names.number(row) == RecordNames.NONE || names.sequence(row) != name.sequence()) {
      return replaced.remove(name);
    }
    return drop(row);
  }

  private DeadRecord drop(int row) {
    int number = names.number(row);
    DeadRecord dead = new DeadRecord(new RecordName(key(row), names.sequence(row)), places.place(number).segment());
    places.release(number);
    names.drop(row);
    return dead;
  }

  /// Records that count no more, though no removal says so.
  List<DeadRecord> replaced() {
    return new ArrayList<>(replaced.values());
  }

  private BlockKey key(int row) {
    return new BlockKey(space, names.hash(row));
  }

  /// Hands all of them over.
  void takeAll(Taker taker) {
    for (int row = 0; row < names.size(); row++) {
      if (names.number(row) != RecordNames.NONE) {
        taker.take(key(row), names.number(row));
      }
      names.discard(row);
    }
    names.clear();
  }
}
