package io.penstock.lab.simulate;

import io.penstock.block.BlockKey;
import java.util.ArrayList;
import java.util.List;

/// The textbook, once more: touch, or insert and then evict one, a reference at a time.
final class PlainLru {
  private final long capacityBlocks;
  private final List<BlockKey> order = new ArrayList<>();

  PlainLru(long capacityBlocks) {
    this.capacityBlocks = capacityBlocks;
  }

  /// Hits among `keys`, referenced in order.
  int refer(List<BlockKey> keys) {
    int hits = 0;
    for (BlockKey key : keys) {
      hits += order.remove(key) ? 1 : 0;
      order.add(key);
      if (order.size() > capacityBlocks) {
        order.removeFirst();
      }
    }
    return hits;
  }
}
