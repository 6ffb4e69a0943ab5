package io.penstock.pool;

import io.penstock.block.BlockKey;
import java.util.Arrays;

/// How often, and when last, keys were used that were evicted since: a table of fixed size, 8 bytes for each key. A key
/// takes the place of an older one with the same slot. Two keys are taken for one with a probability of 2^-24.
final class EvictedUses {
  /// The highest count.
  static final int MOST_USES = 15;

  private static final int LEAST_SLOTS = 1 << 16;
  private static final int MOST_SLOTS = 1 << 22;
  private static final int USES_BITS = 4;
  private static final int TIME_BITS = 36;
  private static final long TIME = (1L << TIME_BITS) - 1;
  private static final long MIX = 0x9E3779B97F4A7C15L;

  /// From the highest bit: a fingerprint of the key, the uses, the time of the last use. 0 is an empty slot.
  private final long[] slots;
  private final int shift;

  /// @param capacity keys that are not evicted, at most
  EvictedUses(long capacity) {
    int wanted = Math.clamp(capacity, LEAST_SLOTS, MOST_SLOTS);
    int slotBits = Integer.SIZE - Integer.numberOfLeadingZeros(wanted - 1);
    this.slots = new long[1 << slotBits];
    this.shift = Long.SIZE - slotBits;
  }

  /// Remembers `key`.
  void add(BlockKey key, int uses, long last) {
    long hash = hash(key);
    slots[slot(hash)] = fingerprint(hash) | (long) Math.min(uses, MOST_USES) << TIME_BITS | (last & TIME);
  }

  /// How often `key` was used; 0 if that is forgotten.
  int uses(BlockKey key) {
    long hash = hash(key);
    long slot = slots[slot(hash)];
    return slot != 0 && fingerprint(slot) == fingerprint(hash) ? (int) (slot >>> TIME_BITS) & MOST_USES : 0;
  }

  /// References since the last use of `key`, which is remembered.
  long age(BlockKey key, long now) {
    return (now - slots[slot(hash(key))]) & TIME;
  }

  void clear() {
    Arrays.fill(slots, 0);
  }

  private int slot(long hash) {
    return (int) ((hash * MIX) >>> shift);
  }

  private static long fingerprint(long word) {
    return (word >>> (USES_BITS + TIME_BITS)) << (USES_BITS + TIME_BITS);
  }

  private static long hash(BlockKey key) {
    long mixed = (key.hash().low() ^ Long.rotateLeft(key.hash().high(), 32)) * MIX;
    return mixed ^ (mixed >>> 32);
  }
}
