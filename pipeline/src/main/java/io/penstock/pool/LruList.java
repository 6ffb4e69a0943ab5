package io.penstock.pool;

import io.penstock.block.BlockKey;
import io.penstock.check.Checks;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntConsumer;

/// The keys on one level of a [Ledger], from the next eviction victim to the most recently used: a ring through their
/// rows.
final class LruList {
  private static final int NONE = KeyTable.NONE;

  private final KeyTable rows;
  private final LevelBytes levelOf;
  private final int level;
  private long capacity;
  private int size;
  private int first = NONE;

  /// @param levelOf keeps the level of each row
  LruList(KeyTable rows, LevelBytes levelOf, int level, long capacity) {
    Checks.positive("capacityBlocks", capacity);
    this.rows = rows;
    this.levelOf = levelOf;
    this.level = level;
    this.capacity = capacity;
  }

  long capacity() {
    return capacity;
  }

  void capacity(long blocks) {
    capacity = Checks.positive("capacityBlocks", blocks);
  }

  int size() {
    return size;
  }

  boolean isTooFull() {
    return size > capacity;
  }

  /// The next victim; there must be one.
  int first() {
    return first;
  }

  /// Adds `row`, a ring of its own, as the most recently used.
  void link(int row) {
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
  void unlink(int row) {
    int after = rows.after(row);
    if (first == row) {
      first = after == row ? NONE : after;
    }
    rows.join(rows.before(row), after);
    rows.join(row, row);
    size--;
  }

  /// Calls `reader` with each row, next victim first.
  void forEach(IntConsumer reader) {
    int row = first;
    for (int i = 0; i < size; i++, row = rows.after(row)) {
      reader.accept(row);
    }
  }

  /// The next `count` victims; all keys if there are fewer.
  List<BlockKey> next(int count) {
    List<BlockKey> victims = new ArrayList<>(Math.min(count, size));
    int row = first;
    for (int i = 0; i < size && i < count; i++, row = rows.after(row)) {
      victims.add(rows.key(row));
    }
    return victims;
  }

  void clear() {
    first = NONE;
    size = 0;
  }
}
