package io.penstock.pool.evict;

import io.penstock.check.Checks;
import java.util.function.IntConsumer;

/// Rows from the next eviction victim to the most recently used, in a ring: the keys on one level of a `Ledger`, or a
/// list of an [EvictionOrder].
public final class LruList {
  /// The capacity of a list that has none.
  public static final long UNBOUNDED = Long.MAX_VALUE;

  private static final int NONE = KeyTable.NONE;

  private final RowRings rows;
  private final LevelBytes levelOf;
  private final int level;
  private long capacity;
  private int size;
  private int first = NONE;

  /// @param levelOf keeps the level of each row
  public LruList(RowRings rows, LevelBytes levelOf, int level, long capacity) {
    Checks.positive("capacityBlocks", capacity);
    this.rows = rows;
    this.levelOf = levelOf;
    this.level = level;
    this.capacity = capacity;
  }

  public long capacity() {
    return capacity;
  }

  public void capacity(long blocks) {
    capacity = Checks.positive("capacityBlocks", blocks);
  }

  public int size() {
    return size;
  }

  public boolean isTooFull() {
    return size > capacity;
  }

  /// The next victim; there must be one.
  public int first() {
    return first;
  }

  /// The most recently used; there must be one.
  public int last() {
    return rows.before(first);
  }

  /// Adds `row`, a ring of its own, as the most recently used.
  public void link(int row) {
    levelOf.set(row, level);
    if (first == NONE) {
      first = row;
    } else {
      rows.join(rows.before(first), row);
      rows.join(row, first);
    }
    size++;
  }

  /// Takes `row` out, as a ring of its own.
  public void unlink(int row) {
    int after = rows.after(row);
    if (first == row) {
      first = after == row ? NONE : after;
    }
    rows.join(rows.before(row), after);
    rows.join(row, row);
    size--;
  }

  /// Calls `reader` with each row, next victim first.
  public void forEach(IntConsumer reader) {
    first(size, reader);
  }

  /// Calls `reader` with the first `count` rows; with all rows if there are fewer.
  public void first(int count, IntConsumer reader) {
    int row = first;
    int most = Math.min(size, count);
    for (int i = 0; i < most; i++, row = rows.after(row)) {
      reader.accept(row);
    }
  }

  public void clear() {
    first = NONE;
    size = 0;
  }
}
