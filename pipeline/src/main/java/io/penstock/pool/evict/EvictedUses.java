package io.penstock.pool.evict;

import io.penstock.block.BlockKey;
import io.penstock.block.SpaceId;

/// Number and time of the uses of keys that were evicted. The oldest entries are forgotten. A key costs 49 bytes.
final class EvictedUses {
  private static final long LEAST_KEYS = 1 << 16;
  private static final long MOST_KEYS = 1 << 20;

  private final EvictedKeys keys;
  private final IntColumn uses = new IntColumn();
  private final LongColumn times = new LongColumn();
  private final long most;

  private EvictedUses(SpaceId space, long most) {
    this.keys = new EvictedKeys(space, 1);
    this.most = most;
  }

  /// @param capacity keys that are not evicted, at most
  static EvictedUses of(SpaceId space, long capacity) {
    return sampled(space, capacity, 1);
  }

  /// The part `rate` of what [#of] remembers, for a sample of the keys.
  static EvictedUses sampled(SpaceId space, long capacity, double rate) {
    return new EvictedUses(space, Math.max(1, (long) (rate * Math.clamp(capacity, LEAST_KEYS, MOST_KEYS))));
  }

  /// Remembers `key`, which is not remembered.
  void add(BlockKey key, int count, long last) {
    keys.trim(0, most - 1);
    int row = keys.add(0, key);
    uses.set(row, count);
    times.set(row, last);
  }

  /// Number of uses of `key`; 0 if it is forgotten.
  int uses(BlockKey key) {
    int row = keys.find(key);
    return row == KeyTable.NONE ? 0 : uses.get(row);
  }

  /// Time of the last use of `key`, which is remembered.
  long last(BlockKey key) {
    return times.get(keys.find(key));
  }

  void remove(BlockKey key) {
    keys.remove(key);
  }

  void clear() {
    keys.clear();
  }
}
