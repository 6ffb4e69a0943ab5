package io.penstock.pool;

import io.penstock.block.BlockKey;
import java.util.function.IntFunction;
import java.util.function.IntPredicate;

/// W-TinyLFU (Einziger, Friedman and Manes, "TinyLFU: A Highly Efficient Cache Admission Policy", ACM Transactions on
/// Storage 13, 2017): an LRU window of a hundredth of the capacity for new keys, and a main part of a probation list
/// and a protected list. A key that leaves the window stays only if it was used more often than the next victim of the
/// main part, by a [FrequencySketch].
///
/// It departs from the paper in two ways: it counts a miss when the key is inserted, not when it is asked for, and the
/// sketch knows at most 16,777,216 keys.
final class TinyLfuOrder implements EvictionOrder {
  private static final int WINDOW = 0;
  private static final int PROBATION = 1;
  private static final int PROTECTED = 2;
  private static final long LEAST_KEYS = 1 << 4;
  private static final long MOST_KEYS = 1 << 24;

  private final long windowTarget;
  private final long protectedTarget;
  private final RowLists rows = new RowLists(3);
  private final long sketched;
  private final IntFunction<BlockKey> keys;
  private FrequencySketch sketch;

  /// @param keys the key of each row
  TinyLfuOrder(long capacity, IntFunction<BlockKey> keys) {
    this.windowTarget = Math.max(1, capacity / 100);
    this.protectedTarget = (capacity - windowTarget) / 5 * 4;
    this.sketched = Math.clamp(capacity, LEAST_KEYS, MOST_KEYS);
    this.keys = keys;
    this.sketch = new FrequencySketch(sketched);
  }

  @Override
  public void inserted(int row, BlockKey key, int position) {
    sketch.use(key);
    rows.add(WINDOW, row);
    while (rows.size(WINDOW) > windowTarget) {
      rows.move(rows.first(WINDOW), PROBATION);
    }
  }

  @Override
  public void touched(int row, BlockKey key, int position) {
    sketch.use(key);
    rows.move(row, rows.of(row) == WINDOW ? WINDOW : PROTECTED);
    while (rows.size(PROTECTED) > protectedTarget) {
      rows.move(rows.first(PROTECTED), PROBATION);
    }
  }

  @Override
  public int victim(IntPredicate mayLeave) {
    int main = rows.victim(PROBATION, PROTECTED, mayLeave);
    if (main == KeyTable.NONE || rows.size(WINDOW) >= windowTarget) {
      int candidate = rows.victim(WINDOW, mayLeave);
      return main == KeyTable.NONE || (candidate != KeyTable.NONE && !isBetter(candidate, main)) ? candidate : main;
    }
    return main;
  }

  private boolean isBetter(int candidate, int victim) {
    return sketch.estimate(keys.apply(candidate)) > sketch.estimate(keys.apply(victim));
  }

  @Override
  public void evicted(int row, BlockKey key) {
    rows.remove(row);
  }

  @Override
  public void removed(int row) {
    rows.remove(row);
  }

  @Override
  public void clear() {
    rows.clear();
    sketch = new FrequencySketch(sketched);
  }
}
