package io.penstock.pool;

import static java.util.Objects.requireNonNull;

import io.penstock.block.BlockKey;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/// Decides hit and victim in reference order, exactly as the textbook policy does: touch, or insert and evict one at a time.
///
/// Pure bookkeeping: it owns nothing and tells the caller who left. Every operation is O(1). Not thread-safe: its pool guards it.
///
/// @param <V> what the pool remembers of a block
public final class Ledger<V> {
  /// No limit on the number of blocks.
  public static final long UNBOUNDED = Long.MAX_VALUE;

  private final EvictionPolicy policy;
  private final long capacityBlocks;
  /// From the next victim to the safest.
  private final LinkedHashMap<BlockKey, V> entries = new LinkedHashMap<>();

  /// @param capacityBlocks most blocks at any time, or [#UNBOUNDED]
  public Ledger(EvictionPolicy policy, long capacityBlocks) {
    if (capacityBlocks <= 0) {
      throw new IllegalArgumentException("capacityBlocks must be > 0 (was " + capacityBlocks + ")");
    }
    this.policy = requireNonNull(policy, "policy");
    this.capacityBlocks = capacityBlocks;
  }

  /// What is remembered of `key`, without counting as a use.
  public @Nullable V peek(BlockKey key) {
    return entries.get(key);
  }

  /// Counts a use of `key`; null means that it is not here.
  public @Nullable V touch(BlockKey key) {
    V value = entries.get(key);
    if (value != null && policy == EvictionPolicy.LRU) {
      entries.putLast(key, value);
    }
    return value;
  }

  /// Adds `key`, which is not here, as the most recently used, then evicts one victim if that is one too many.
  public void insert(BlockKey key, V value, BiConsumer<BlockKey, V> evicted) {
    if (entries.putIfAbsent(key, value) != null) {
      throw new IllegalStateException("key must be absent to be inserted (was present, " + key + ")");
    }
    if (entries.size() > capacityBlocks) {
      Map.Entry<BlockKey, V> victim = requireNonNull(entries.pollFirstEntry());
      evicted.accept(victim.getKey(), victim.getValue());
    }
  }

  /// Changes what is remembered of `key`, which is here, without counting as a use.
  public void update(BlockKey key, V value) {
    if (entries.replace(key, value) == null) {
      throw new IllegalStateException("key must be present to be updated (was absent, " + key + ")");
    }
  }

  public @Nullable V remove(BlockKey key) {
    return entries.remove(key);
  }

  /// Removes everything and answers what was remembered, next victim first.
  public List<V> clear() {
    List<V> values = new ArrayList<>(entries.values());
    entries.clear();
    return values;
  }

  public int size() {
    return entries.size();
  }

  public long capacityBlocks() {
    return capacityBlocks;
  }
}
