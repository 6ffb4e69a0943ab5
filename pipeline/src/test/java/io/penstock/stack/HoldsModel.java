package io.penstock.stack;

import io.penstock.block.BlockKey;
import io.penstock.tier.TierHolds.Pin;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// What a stack of one level with LRU, read leases and pins must do, in the plainest form: a list in the order of
/// eviction, and times. No reader holds a block between two steps.
final class HoldsModel {
  private final int capacity;
  private final List<BlockKey> order = new ArrayList<>();
  private final Map<Long, Lease> leases = new HashMap<>();
  private final Map<BlockKey, Long> softUntil = new HashMap<>();
  private final Set<BlockKey> hard = new HashSet<>();
  private long now;

  private static final class Lease {
    private final Set<BlockKey> keys;
    private final long life;
    private long end;

    private Lease(Set<BlockKey> keys, long life, long end) {
      this.keys = keys;
      this.life = life;
      this.end = end;
    }
  }

  HoldsModel(int capacity) {
    this.capacity = capacity;
  }

  void pass(long time) {
    now += time;
    leases.values().removeIf(lease -> lease.end <= now);
    softUntil.values().removeIf(end -> end <= now);
  }

  boolean has(BlockKey key) {
    return order.contains(key);
  }

  Set<BlockKey> visible() {
    return Set.copyOf(order);
  }

  void touch(BlockKey key) {
    order.remove(key);
    order.add(key);
  }

  /// Adds `key`, which is absent.
  ///
  /// @return the key that is evicted for it; null if there is room
  @Nullable BlockKey put(BlockKey key, @Nullable Pin pin, long pinEnd) {
    if (pin != null) {
      pin(key, pin, pinEnd);
    }
    order.add(key);
    if (order.size() <= capacity) {
      return null;
    }
    BlockKey victim = victim(key);
    forget(victim);
    return victim;
  }

  private BlockKey victim(BlockKey newest) {
    BlockKey second = null;
    List<BlockKey> passed = new ArrayList<>();
    for (BlockKey key : List.copyOf(order)) {
      boolean soft = softUntil.containsKey(key);
      if (!key.equals(newest) && !isLeased(key) && !hard.contains(key)) {
        if (!soft) {
          order.removeAll(passed);
          order.addAll(passed);
          return key;
        }
        second = second == null ? key : second;
      }
      if (!key.equals(newest)) {
        passed.add(key);
      }
    }
    order.removeAll(passed);
    order.addAll(passed);
    return second == null ? newest : second;
  }

  boolean isLeased(BlockKey key) {
    return leases.values().stream().anyMatch(lease -> lease.keys.contains(key));
  }

  boolean remove(BlockKey key, boolean force) {
    if (!has(key) || (isLeased(key) && !force)) {
      return false;
    }
    forget(key);
    return true;
  }

  private void forget(BlockKey key) {
    order.remove(key);
    softUntil.remove(key);
    hard.remove(key);
    leases.values().forEach(lease -> lease.keys.remove(key));
  }

  void lease(long id, Set<BlockKey> keys, long life) {
    leases.put(id, new Lease(new HashSet<>(keys), life, now + life));
  }

  boolean isLive(long id) {
    return leases.containsKey(id);
  }

  void read(long id) {
    Lease lease = leases.get(id);
    if (lease != null) {
      lease.end = now + lease.life;
    }
  }

  boolean release(long id) {
    return leases.remove(id) != null;
  }

  int pins() {
    return softUntil.size() + hard.size();
  }

  int hardPins() {
    return hard.size();
  }

  long leasedBlocks() {
    return order.stream().filter(this::isLeased).count();
  }

  boolean isPinned(BlockKey key) {
    return softUntil.containsKey(key) || hard.contains(key);
  }

  boolean isHardPinned(BlockKey key) {
    return hard.contains(key);
  }

  void pin(BlockKey key, Pin pin, long life) {
    softUntil.remove(key);
    hard.remove(key);
    switch (pin.kind()) {
      case SOFT -> softUntil.put(key, now + life);
      case HARD -> hard.add(key);
      case NONE -> {
        // Unpinned
      }
    }
  }
}
