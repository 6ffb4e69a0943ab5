package io.penstock.pool;

import io.penstock.block.BlockKey;
import io.penstock.block.SpaceId;
import java.util.function.IntPredicate;

/// S3-FIFO (Yang et al., "FIFO queues are all you need for cache eviction", SOSP '23): a small queue of a tenth of the
/// capacity, a main queue, and the keys that were evicted from the small queue. A key that is used more than once in
/// the small queue moves to the main queue. A key of the main queue moves to its end once for each of its last uses,
/// three at most.
///
/// It follows algorithm 1 of the paper, so a key that moves to the main queue keeps the count of its uses; the text of
/// section 4.1 clears it. It departs from the paper in two ways: an insertion evicts one key at most, also where the
/// main queue is too long, and a key that may not leave moves to the end of its queue.
final class S3FifoOrder implements EvictionOrder {
  private static final int SMALL = 0;
  private static final int MAIN = 1;
  private static final int MOST_USES = 3;

  private final long smallTarget;
  private final long mainTarget;
  private final RowLists rows = new RowLists(2);
  private final IntColumn uses = new IntColumn();
  private final EvictedKeys evicted;

  S3FifoOrder(SpaceId space, long capacity) {
    this.smallTarget = Math.max(1, capacity / 10);
    this.mainTarget = capacity - smallTarget;
    this.evicted = new EvictedKeys(space, 1);
  }

  @Override
  public void inserted(int row, BlockKey key, int position) {
    boolean wasHere = evicted.of(key) >= 0;
    evicted.remove(key);
    uses.set(row, 0);
    rows.add(wasHere ? MAIN : SMALL, row);
  }

  @Override
  public void touched(int row, BlockKey key, int position) {
    uses.set(row, Math.min(MOST_USES, uses.get(row) + 1));
  }

  @Override
  public int victim(IntPredicate mayLeave) {
    int most = Math.min(MOST_KEPT, rows.size(SMALL) + rows.size(MAIN));
    int kept = 0;
    while (kept < most) {
      int list = isSmallNext() ? SMALL : MAIN;
      int row = rows.first(list);
      if (!passes(row, list)) {
        if (mayLeave.test(row)) {
          return row;
        }
        rows.move(row, list);
        kept++;
      }
    }
    return rows.victim(MAIN, SMALL, mayLeave);
  }

  private boolean isSmallNext() {
    boolean isSmallFull = rows.size(SMALL) >= smallTarget && rows.size(MAIN) <= mainTarget;
    return rows.size(SMALL) > 0 && (isSmallFull || rows.size(MAIN) == 0);
  }

  /// Whether `row`, the first of `list`, has uses that let it stay, and so moved on.
  private boolean passes(int row, int list) {
    int count = uses.get(row);
    if (list == SMALL && count > 1) {
      rows.move(row, MAIN);
      return true;
    }
    if (list == MAIN && count > 0) {
      uses.set(row, count - 1);
      rows.move(row, MAIN);
      return true;
    }
    return false;
  }

  @Override
  public void evicted(int row, BlockKey key) {
    if (rows.of(row) == SMALL) {
      evicted.trim(0, mainTarget - 1);
      evicted.add(0, key);
    }
    rows.remove(row);
  }

  @Override
  public void removed(int row) {
    rows.remove(row);
  }

  @Override
  public void clear() {
    rows.clear();
    uses.clear();
    evicted.clear();
  }
}
