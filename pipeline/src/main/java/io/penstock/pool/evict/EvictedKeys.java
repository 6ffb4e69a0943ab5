package io.penstock.pool.evict;

import io.penstock.block.BlockKey;
import io.penstock.block.SpaceId;
import java.util.ArrayList;
import java.util.List;

/// Evicted keys, in lists from the oldest to the newest. A key costs 37 bytes.
final class EvictedKeys {
  private static final int NONE = KeyTable.NONE;

  private final KeyTable rows;
  private final LevelBytes listOf = new LevelBytes();
  private final List<LruList> lists = new ArrayList<>();

  EvictedKeys(SpaceId space, int count) {
    this.rows = new KeyTable(space, -1);
    for (int i = 0; i < count; i++) {
      lists.add(new LruList(rows, listOf, i, LruList.UNBOUNDED));
    }
  }

  int size(int list) {
    return lists.get(list).size();
  }

  /// The list of `key`; −1 if it is in none.
  int of(BlockKey key) {
    int row = rows.find(key);
    return row == NONE ? -1 : listOf.get(row);
  }

  /// The row of `key`; [KeyTable#NONE] if it is in no list.
  int find(BlockKey key) {
    return rows.find(key);
  }

  /// Adds `key`, which is in no list, as the newest.
  ///
  /// @return its row
  int add(int list, BlockKey key) {
    int row = rows.add(key);
    lists.get(list).link(row);
    return row;
  }

  /// Forgets `key`, if it is in a list.
  void remove(BlockKey key) {
    int row = rows.find(key);
    if (row != NONE) {
      drop(row);
    }
  }

  /// Forgets the oldest keys of `list` until it has `most` at most.
  void trim(int list, long most) {
    while (size(list) > Math.max(0, most)) {
      drop(lists.get(list).first());
    }
  }

  void clear() {
    rows.clear();
    listOf.clear();
    lists.forEach(LruList::clear);
  }

  private void drop(int row) {
    lists.get(listOf.get(row)).unlink(row);
    rows.remove(row);
  }
}
