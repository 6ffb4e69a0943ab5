package io.penstock.pool.evict;

import io.penstock.block.BlockKey;
import java.util.function.IntPredicate;

/// LRU as an order of its own, where the levels of a `Ledger` do not have it.
final class LruOrder implements EvictionOrder {
  private final RowLists rows = new RowLists(1);

  @Override
  public void inserted(int row, BlockKey key, int position) {
    rows.add(0, row);
  }

  @Override
  public void touched(int row, BlockKey key, int position) {
    rows.move(row, 0);
  }

  @Override
  public int victim(IntPredicate mayLeave) {
    return rows.victim(0, mayLeave);
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
  }
}
