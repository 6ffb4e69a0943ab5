package io.penstock.pool.evict;

import io.penstock.block.BlockKey;
import io.penstock.block.SpaceId;

/// A cache of keys without blocks, which shows what an [EvictionOrder] would hit. Not thread-safe.
final class ShadowCache {
  private final KeyTable rows;
  private final EvictionOrder order;

  ShadowCache(SpaceId space, EvictionOrder order) {
    this.rows = new KeyTable(space, -1);
    this.order = order;
  }

  /// A reference to `key`, which is present from now on.
  ///
  /// @param capacity maximum number of keys
  /// @return whether it was present
  boolean reference(BlockKey key, int position, long capacity) {
    int row = rows.find(key);
    if (row != KeyTable.NONE) {
      order.touched(row, key, position);
      return true;
    }
    order.missed(key);
    while (rows.size() >= capacity) {
      evict();
    }
    int added = rows.add(key);
    order.inserted(added, key, position);
    return false;
  }

  private void evict() {
    int victim = order.victim(row -> true);
    order.evicted(victim, rows.key(victim));
    rows.remove(victim);
  }

  void remove(BlockKey key) {
    int row = rows.find(key);
    if (row != KeyTable.NONE) {
      order.removed(row);
      rows.remove(row);
    }
  }

  void clear() {
    rows.clear();
    order.clear();
  }
}
