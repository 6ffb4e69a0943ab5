package io.penstock.pool.evict;

import io.penstock.block.BlockKey;
import java.util.function.IntPredicate;

/// Evicts the key with the lowest score; of equal scores, the least recently used. A score is computed at each use.
///
/// LFU (Coffman and Denning, "Operating Systems Theory", 1973) scores by the uses since the key came, which never age.
/// LENGTH_AWARE is named after the policy of Mooncake (Qin et al., FAST '25), which counts uses, too; here the position
/// alone decides. A key that may not leave counts as the most recently used, and has the score of another key until its
/// next use.
final class ScoreOrder implements EvictionOrder {
  private final Score score;
  /// The candidates.
  private final RowHeap heap = new RowHeap();
  private final IntColumn uses = new IntColumn();
  /// When each row was used last.
  private final LongColumn last = new LongColumn();
  /// References to keys so far: the clock of this order.
  private long now;

  /// Value of a key.
  interface Score {
    /// The score of a key after a use.
    ///
    /// @param uses how often the key was used, this time included
    /// @param now references so far
    long of(int uses, int position, long now);

    /// Number of earlier uses of `key`, which was absent.
    default int recalled(BlockKey key, long now) {
      return 0;
    }

    /// A key was used again after `interval` references.
    default void reused(long interval) {}

    /// `key` was evicted; it was last used at `last`.
    ///
    /// @param lowest the lowest score at this moment: that of `key`, unless another key could not leave instead of it
    default void evicted(BlockKey key, int uses, long last, long lowest) {}

    default void clear() {}
  }

  ScoreOrder(Score score) {
    this.score = score;
  }

  @Override
  public void inserted(int row, BlockKey key, int position) {
    countNew(row, key);
    consider(row, position);
  }

  @Override
  public void touched(int row, BlockKey key, int position) {
    countAgain(row);
    consider(row, position);
  }

  /// Counts the first reference to `row`, without making it a candidate.
  void countNew(int row, BlockKey key) {
    now++;
    used(row, score.recalled(key, now) + 1);
  }

  /// Counts another reference to `row`.
  void countAgain(int row) {
    now++;
    score.reused(now - last.get(row));
    used(row, uses.get(row) + 1);
  }

  private void used(int row, int count) {
    uses.set(row, count);
    last.set(row, now);
  }

  /// Makes `row` a candidate, with the score of its last reference.
  void consider(int row, int position) {
    heap.put(row, value(row, position));
  }

  /// The score that `row` has as a candidate.
  long value(int row, int position) {
    return score.of(uses.get(row), position, last.get(row));
  }

  /// The score of the candidate `row`.
  long priority(int row) {
    return heap.priority(row);
  }

  /// `row` is no candidate from now on; its references stay counted.
  void ignore(int row) {
    if (heap.has(row)) {
      heap.remove(row);
    }
  }

  /// References to keys so far.
  long now() {
    return now;
  }

  @Override
  public int victim(IntPredicate mayLeave) {
    int most = Math.min(heap.size(), MOST_KEPT);
    for (int i = 0; i < most; i++) {
      int row = heap.first();
      if (mayLeave.test(row)) {
        return row;
      }
      heap.postpone(row);
    }
    return KeyTable.NONE;
  }

  @Override
  public void evicted(int row, BlockKey key) {
    long lowest = heap.size() == 0 ? value(row, 0) : heap.priority(heap.first());
    score.evicted(key, uses.get(row), last.get(row), lowest);
    ignore(row);
  }

  @Override
  public void removed(int row) {
    ignore(row);
  }

  @Override
  public void clear() {
    heap.clear();
    uses.clear();
    last.clear();
    score.clear();
    now = 0;
  }
}
