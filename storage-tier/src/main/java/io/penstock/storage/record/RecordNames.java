package io.penstock.storage.record;

import io.penstock.block.BlockHash;
import io.penstock.pool.evict.IntRows;
import java.util.Arrays;

/// The newest records of one space, by the hashes of their blocks, with a number for each: 28 bytes a record, and 6 to
/// 11 to find it. One thread.
public final class RecordNames {
  /// No row; also the number of a dead record.
  public static final int NONE = IntRows.NONE;

  private static final int NUMBER = 0;
  private static final int SEQUENCE = 1;
  private static final int HIGH = 3;
  private static final int LOW = 5;
  private static final int WIDTH = 7;
  private static final int FEWEST_SLOTS = 16;

  private final IntRows rows = new IntRows(WIDTH);
  /// Rows by their hashes: open addressing, at most three quarters full.
  private int[] slots = slots(FEWEST_SLOTS);
  private int live;

  private static int[] slots(int count) {
    int[] slots = new int[count];
    Arrays.fill(slots, NONE);
    return slots;
  }

  /// Adds a record of `hash`. An older one of that hash is dead then.
  ///
  /// @param number any but [#NONE]
  public void put(BlockHash hash, long sequence, int number) {
    int older = row(hash);
    if (older != NONE && number(older) != NONE) {
      drop(older);
    }
    if (4L * (rows.size() + 1) > 3L * slots.length) {
      grow();
    }
    int row = rows.take(); // always a new row: rows keep the order of writing
    rows.set(row, NUMBER, number);
    rows.setLong(row, SEQUENCE, sequence);
    rows.setLong(row, HIGH, hash.high());
    rows.setLong(row, LOW, hash.low());
    slots[slot(slots, hash.high(), hash.low())] = row;
    live++;
  }

  private void grow() {
    int[] more = slots(Math.multiplyExact(2, slots.length));
    for (int row = 0; row < rows.size(); row++) {
      more[slot(more, rows.getLong(row, HIGH), rows.getLong(row, LOW))] = row;
    }
    slots = more;
  }

  /// The slot of a hash, or the free slot for it.
  private int slot(int[] in, long high, long low) {
    long mixed = (low * 0x9E3779B97F4A7C15L ^ high) * 0xD6E8FEB86659FD93L;
    int slot = (int) (mixed >>> 32) & (in.length - 1);
    while (in[slot] != NONE && (rows.getLong(in[slot], LOW) != low || rows.getLong(in[slot], HIGH) != high)) {
      slot = (slot + 1) & (in.length - 1);
    }
    return slot;
  }

  /// The newest row of `hash`, live or dead; [#NONE] if there is none.
  public int row(BlockHash hash) {
    return slots[slot(slots, hash.high(), hash.low())];
  }

  /// Number of rows, live and dead, counted from 0.
  public int size() {
    return rows.size();
  }

  /// Number of live rows.
  public int live() {
    return live;
  }

  /// The number of a row; [#NONE] if the row is dead.
  public int number(int row) {
    return rows.get(row, NUMBER);
  }

  public long sequence(int row) {
    return rows.getLong(row, SEQUENCE);
  }

  public BlockHash hash(int row) {
    return new BlockHash(rows.getLong(row, HIGH), rows.getLong(row, LOW));
  }

  /// Makes a live row dead.
  public void drop(int row) {
    rows.set(row, NUMBER, NONE);
    live--;
  }

  /// As in [IntRows#discard].
  public void discard(int row) {
    rows.discard(row);
  }

  public void clear() {
    rows.clear();
    slots = slots(FEWEST_SLOTS);
    live = 0;
  }
}
