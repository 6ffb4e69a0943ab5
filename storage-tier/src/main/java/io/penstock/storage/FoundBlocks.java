package io.penstock.storage;

import io.penstock.block.BlockHash;
import io.penstock.block.BlockKey;
import io.penstock.block.SpaceId;
import io.penstock.pool.IntRows;
import io.penstock.storage.record.RecordName;
import java.util.Arrays;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// The blocks that an opening finds, in the order of writing: 28 bytes each beside their [PlaceTable], until somebody takes them. One thread.
final class FoundBlocks {
  private static final int NUMBER = 0;
  private static final int SEQUENCE = 1;
  private static final int HIGH = 3;
  private static final int LOW = 5;
  private static final int WIDTH = 7;
  /// Instead of the number of one that counts no more.
  private static final int GONE = PlaceTable.NONE;

  private final SpaceId space;
  private final PlaceTable places;
  private final IntRows rows = new IntRows(WIDTH);
  private int live;

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
    return live;
  }

  /// @param place of a record with a higher sequence than all before
  void add(BlockKey key, Place place) {
    int row = rows.take();
    rows.set(row, NUMBER, places.add(place));
    rows.setLong(row, SEQUENCE, place.sequence());
    rows.setLong(row, HIGH, key.hash().high());
    rows.setLong(row, LOW, key.hash().low());
    live++;
  }

  /// Forgets the block of a record.
  ///
  /// @return what is dead now; null if there is no such block
  @Nullable DeadRecord remove(RecordName name) {
    int row = row(name.sequence());
    return row == IntRows.NONE || rows.get(row, NUMBER) == GONE || !key(row).equals(name.key()) ? null : remove(row);
  }

  private int row(long sequence) {
    int low = 0;
    int high = rows.size() - 1;
    while (low <= high) {
      int middle = (low + high) >>> 1;
      long there = rows.getLong(middle, SEQUENCE);
      if (there == sequence) {
        return middle;
      }
      if (there < sequence) {
        low = middle + 1;
      } else {
        high = middle - 1;
      }
    }
    return IntRows.NONE;
  }

  private DeadRecord remove(int row) {
    DeadRecord dead = new DeadRecord(new RecordName(key(row), rows.getLong(row, SEQUENCE)),
        places.place(rows.get(row, NUMBER)).segment());
    places.release(rows.get(row, NUMBER));
    rows.set(row, NUMBER, GONE);
    live--;
    return dead;
  }

  /// Forgets all blocks of keys that were written again later.
  ///
  /// @param reader hears of each
  void keepNewest(Consumer<DeadRecord> reader) {
    int[] newest = new int[Math.max(2, 2 * Integer.highestOneBit(live + live / 3))]; // open addressing, three quarters full at most
    Arrays.fill(newest, IntRows.NONE);
    for (int row = 0; row < rows.size(); row++) {
      if (rows.get(row, NUMBER) != GONE) {
        int slot = slot(newest, row);
        int older = newest[slot];
        newest[slot] = row;
        if (older != IntRows.NONE) {
          reader.accept(remove(older));
        }
      }
    }
  }

  /// Where `row` belongs, or one of the same key is.
  private int slot(int[] newest, int row) {
    int slot = hash(row) & (newest.length - 1);
    while (newest[slot] != IntRows.NONE && !sameKey(newest[slot], row)) {
      slot = (slot + 1) & (newest.length - 1);
    }
    return slot;
  }

  private int hash(int row) {
    long mixed = (rows.getLong(row, LOW) ^ space.low()) * 0x9E3779B97F4A7C15L ^ (rows.getLong(row, HIGH) ^ space.high());
    mixed *= 0xD6E8FEB86659FD93L;
    return (int) (mixed >>> 32);
  }

  private boolean sameKey(int one, int other) {
    return rows.getLong(one, LOW) == rows.getLong(other, LOW) && rows.getLong(one, HIGH) == rows.getLong(other, HIGH);
  }

  private BlockKey key(int row) {
    return new BlockKey(space, new BlockHash(rows.getLong(row, HIGH), rows.getLong(row, LOW)));
  }

  /// Hands all of them over.
  void takeAll(Taker taker) {
    for (int row = 0; row < rows.size(); row++) {
      if (rows.get(row, NUMBER) != GONE) {
        taker.take(key(row), rows.get(row, NUMBER));
      }
      rows.discard(row);
    }
    rows.clear();
    live = 0;
  }
}
