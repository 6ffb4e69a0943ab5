package io.penstock.storage.record;

import io.penstock.block.BlockHash;
import io.penstock.pool.IntRows;
import java.util.Arrays;
import java.util.function.IntConsumer;

/// Records of one space by their sequences and hashes, and a number for each: 28 bytes a record. One thread.
public final class RecordNames {
  /// No row, and the number of a record that counts no more.
  public static final int NONE = IntRows.NONE;

  private static final int NUMBER = 0;
  private static final int SEQUENCE = 1;
  private static final int HIGH = 3;
  private static final int LOW = 5;
  private static final int WIDTH = 7;

  private final IntRows rows = new IntRows(WIDTH);
  private int live;

  /// @param sequence higher than all before
  /// @param number any but [#NONE]
  public void add(BlockHash hash, long sequence, int number) {
    int row = rows.take();
    rows.set(row, NUMBER, number);
    rows.setLong(row, SEQUENCE, sequence);
    rows.setLong(row, HIGH, hash.high());
    rows.setLong(row, LOW, hash.low());
    live++;
  }

  /// Rows, whether they count or not; they are named from 0 on.
  public int size() {
    return rows.size();
  }

  /// Rows that count.
  public int live() {
    return live;
  }

  /// The number of a row; [#NONE] if it counts no more.
  public int number(int row) {
    return rows.get(row, NUMBER);
  }

  public long sequence(int row) {
    return rows.getLong(row, SEQUENCE);
  }

  public BlockHash hash(int row) {
    return new BlockHash(rows.getLong(row, HIGH), rows.getLong(row, LOW));
  }

  /// The row that counts of the record of `hash` with `sequence`; [#NONE] if there is none.
  public int row(BlockHash hash, long sequence) {
    int low = 0;
    int high = rows.size() - 1;
    while (low <= high) {
      int middle = (low + high) >>> 1;
      long there = sequence(middle);
      if (there == sequence) {
        return number(middle) == NONE || !hash(middle).equals(hash) ? NONE : middle;
      }
      if (there < sequence) {
        low = middle + 1;
      } else {
        high = middle - 1;
      }
    }
    return NONE;
  }

  /// Has `row`, which counts, count no more.
  public void drop(int row) {
    rows.set(row, NUMBER, NONE);
    live--;
  }

  /// Tells every row that counts and whose hash comes again later, which `reader` drops. Then all that count have
  /// hashes of their own.
  public void older(IntConsumer reader) {
    // Open addressing, three quarters full at most
    int[] newest = new int[Math.max(2, 2 * Integer.highestOneBit(live + live / 3))];
    Arrays.fill(newest, NONE);
    for (int row = 0; row < rows.size(); row++) {
      if (number(row) != NONE) {
        int slot = slot(newest, row);
        int older = newest[slot];
        newest[slot] = row;
        if (older != NONE) {
          reader.accept(older);
        }
      }
    }
  }

  /// Where `row` belongs, or one of the same hash is.
  private int slot(int[] newest, int row) {
    int slot = mixed(row) & (newest.length - 1);
    while (newest[slot] != NONE && !isSame(newest[slot], row)) {
      slot = (slot + 1) & (newest.length - 1);
    }
    return slot;
  }

  private int mixed(int row) {
    long mixed = rows.getLong(row, LOW) * 0x9E3779B97F4A7C15L ^ rows.getLong(row, HIGH);
    mixed *= 0xD6E8FEB86659FD93L;
    return (int) (mixed >>> 32);
  }

  private boolean isSame(int one, int other) {
    return rows.getLong(one, LOW) == rows.getLong(other, LOW) && rows.getLong(one, HIGH) == rows.getLong(other, HIGH);
  }

  /// As in [IntRows#discard].
  public void discard(int row) {
    rows.discard(row);
  }

  public void clear() {
    rows.clear();
    live = 0;
  }
}
