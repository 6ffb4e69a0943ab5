package io.penstock.pool.evict;

/// Rows by priority, lowest first; of equal priorities, the one that was put first. A binary heap (Williams, "Algorithm
/// 232: Heapsort", 1964) that also knows the place of each row, so that a row can get another priority or leave.
final class RowHeap {
  private final IntColumn heap = new IntColumn();
  /// The place of each row in `heap`, plus one; 0 if it is not there.
  private final IntColumn places = new IntColumn();
  private final LongColumn priorities = new LongColumn();
  /// Number of the last put of each row.
  private final LongColumn stamps = new LongColumn();
  private long puts;
  private int size;
  private int postponed;

  int size() {
    return size;
  }

  /// The row with the lowest priority; there must be one.
  int first() {
    return heap.get(0);
  }

  boolean has(int row) {
    return places.get(row) != 0;
  }

  long priority(int row) {
    return priorities.get(row);
  }

  /// Adds `row`, or gives it another priority.
  void put(int row, long priority) {
    priorities.set(row, priority);
    stamps.set(row, puts++);
    if (places.get(row) == 0) {
      place(row, size++);
    }
    down(row, up(row, place(row)));
  }

  /// Gives `row` the priority of a leaf, another each time, so that it is not among the first for a while.
  void postpone(int row) {
    int inner = size / 2;
    int leaf = heap.get(inner + Math.floorMod(postponed++, size - inner));
    put(row, Math.max(priority(row), priority(leaf)));
  }

  void remove(int row) {
    int at = place(row);
    int last = heap.get(--size);
    places.set(row, 0);
    if (last != row) {
      place(last, at);
      down(last, up(last, at));
    }
  }

  void clear() {
    heap.clear();
    places.clear();
    priorities.clear();
    stamps.clear();
    size = 0;
  }

  private int place(int row) {
    return places.get(row) - 1;
  }

  private void place(int row, int at) {
    heap.set(at, row);
    places.set(row, at + 1);
  }

  private int up(int row, int from) {
    int at = from;
    while (at > 0 && isBefore(row, heap.get((at - 1) / 2))) {
      place(heap.get((at - 1) / 2), at);
      at = (at - 1) / 2;
    }
    place(row, at);
    return at;
  }

  private void down(int row, int from) {
    int at = from;
    for (int child = lowerChild(at); child < size && isBefore(heap.get(child), row); child = lowerChild(at)) {
      place(heap.get(child), at);
      at = child;
    }
    place(row, at);
  }

  private int lowerChild(int at) {
    int left = 2 * at + 1;
    return left + 1 < size && isBefore(heap.get(left + 1), heap.get(left)) ? left + 1 : left;
  }

  private boolean isBefore(int row, int other) {
    long priority = priorities.get(row);
    long than = priorities.get(other);
    return priority < than || (priority == than && stamps.get(row) < stamps.get(other));
  }
}
