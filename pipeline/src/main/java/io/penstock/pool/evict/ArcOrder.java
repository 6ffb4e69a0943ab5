package io.penstock.pool.evict;

import io.penstock.block.BlockKey;
import io.penstock.block.SpaceId;
import java.util.function.IntPredicate;

/// ARC (Megiddo and Modha, "ARC: A Self-Tuning, Low Overhead Replacement Cache", FAST '03): a list of keys used once
/// and a list of keys used more often, each with a list of the keys that were evicted from it. The use of an evicted
/// key shows which list was too small.
///
/// It decides as figure 4 of the paper does. It departs in the evicted keys, which it trims after an insertion and not
/// before, with equal result, and in keys that may not leave: they move to the end of their list, and if none of a list
/// may leave the victim comes from the other.
final class ArcOrder implements EvictionOrder {
  private static final int ONCE = 0;
  private static final int OFTEN = 1;

  private final long capacity;
  private final RowLists rows = new RowLists(2);
  private final EvictedKeys evicted;
  /// Wanted size of the list of keys used once.
  private double target;
  /// The list that last evicted the key that is about to be inserted; −1 if the key is new.
  private int missedFrom = -1;

  ArcOrder(SpaceId space, long capacity) {
    this.capacity = capacity;
    this.evicted = new EvictedKeys(space, 2);
  }

  @Override
  public void missed(BlockKey key) {
    missedFrom = evicted.of(key);
    if (missedFrom == ONCE) {
      target = Math.min(capacity, target + Math.max(1, ratio(OFTEN, ONCE)));
    } else if (missedFrom == OFTEN) {
      target = Math.max(0, target - Math.max(1, ratio(ONCE, OFTEN)));
    }
    evicted.remove(key);
  }

  private double ratio(int list, int other) {
    return (double) evicted.size(list) / evicted.size(other);
  }

  @Override
  public void inserted(int row, BlockKey key, int position) {
    rows.add(missedFrom < 0 ? ONCE : OFTEN, row);
    missedFrom = -1;
    evicted.trim(ONCE, capacity - rows.size(ONCE));
    evicted.trim(OFTEN, 2 * capacity - rows.size(ONCE) - rows.size(OFTEN) - evicted.size(ONCE));
  }

  @Override
  public void touched(int row, BlockKey key, int position) {
    rows.move(row, OFTEN);
  }

  @Override
  public int victim(IntPredicate mayLeave) {
    int once = rows.size(ONCE);
    boolean isOnce = once > target || (missedFrom == OFTEN && once == (long) target);
    return isOnce ? rows.victim(ONCE, OFTEN, mayLeave) : rows.victim(OFTEN, ONCE, mayLeave);
  }

  @Override
  public void evicted(int row, BlockKey key) {
    evicted.add(rows.of(row), key);
    rows.remove(row);
  }

  @Override
  public void removed(int row) {
    rows.remove(row);
  }

  @Override
  public void clear() {
    rows.clear();
    evicted.clear();
    target = 0;
  }
}
