package io.penstock.pool.evict;

import java.util.ArrayList;
import java.util.List;
import java.util.function.IntPredicate;

/// The lists of an [EvictionOrder], each from its next victim to the row that was added last. A row is in one list at
/// most.
final class RowLists {
  private final RowLinks links = new RowLinks();
  private final LevelBytes listOf = new LevelBytes();
  private final List<LruList> lists = new ArrayList<>();

  RowLists(int count) {
    for (int i = 0; i < count; i++) {
      lists.add(new LruList(links, listOf, i, LruList.UNBOUNDED));
    }
  }

  int size(int list) {
    return lists.get(list).size();
  }

  int first(int list) {
    return lists.get(list).first();
  }

  int last(int list) {
    return links.before(first(list));
  }

  /// The list of `row`, which is in one.
  int of(int row) {
    return listOf.get(row);
  }

  /// Adds `row`, which is in no list.
  void add(int list, int row) {
    links.add(row);
    lists.get(list).link(row);
  }

  /// Moves `row` to the end of `list`.
  void move(int row, int list) {
    remove(row);
    lists.get(list).link(row);
  }

  void remove(int row) {
    lists.get(of(row)).unlink(row);
  }

  /// The first row of `list` that `mayLeave` accepts; those before it move to the end. [KeyTable#NONE] if none was
  /// found.
  int victim(int list, IntPredicate mayLeave) {
    int most = Math.min(size(list), EvictionOrder.MOST_KEPT);
    for (int i = 0; i < most; i++) {
      int row = first(list);
      if (mayLeave.test(row)) {
        return row;
      }
      move(row, list);
    }
    return KeyTable.NONE;
  }

  /// Returns the victim of the first of two lists that has such a row.
  int victim(int list, int otherwise, IntPredicate mayLeave) {
    int row = victim(list, mayLeave);
    return row == KeyTable.NONE ? victim(otherwise, mayLeave) : row;
  }

  void clear() {
    lists.forEach(LruList::clear);
    links.clear();
    listOf.clear();
  }
}
