package io.penstock.storage;

import io.penstock.block.BlockKey;
import io.penstock.block.SpaceId;
import io.penstock.storage.record.RecordName;
import io.penstock.storage.record.RecordNames;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// The blocks that an opening finds, in the order of writing: 28 bytes each beside their [PlaceTable], until somebody
/// takes them. One thread.
final class FoundBlocks {
  private final SpaceId space;
  private final PlaceTable places;
  private final RecordNames names = new RecordNames();

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

  /// @param place of a record with a higher sequence than all before
  void add(BlockKey key, Place place) {
    names.add(key.hash(), place.sequence(), places.add(place));
  }

  /// Forgets the block of a record.
  ///
  /// @return what is dead now; null if there is no such block
  @Nullable DeadRecord remove(RecordName name) {
    int row = name.key().space().equals(space) ? names.row(name.key().hash(), name.sequence()) : RecordNames.NONE;
    return row == RecordNames.NONE ? null : remove(row);
  }

  private DeadRecord remove(int row) {
    int number = names.number(row);
    DeadRecord dead = new DeadRecord(new RecordName(key(row), names.sequence(row)), places.place(number).segment());
    places.release(number);
    names.drop(row);
    return dead;
  }

  /// Forgets all blocks of keys that were written again later.
  ///
  /// @param reader hears of each
  void keepNewest(Consumer<DeadRecord> reader) {
    names.older(row -> reader.accept(remove(row)));
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
