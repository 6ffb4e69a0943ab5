package io.penstock.gateway.simulate;

import io.penstock.gateway.choice.Choice;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// An instance of the model: an LRU cache of blocks, and prompts that are computed one after another.
final class ModelInstance {
  private final long capacityBlocks;
  private final Map<Long, Boolean> cache;
  final ArrayDeque<Work> waiting = new ArrayDeque<>();
  boolean isBusy;
  int requests;

  /// A request that was sent here.
  ///
  /// @param choice null where the router was not asked
  record Work(long[] names, long tokens, long outputTokens, long arrivedNanos, @Nullable Choice choice) {}

  /// What a prompt did to the cache.
  record Change(List<Long> stored, List<Long> evicted) {}

  ModelInstance(long capacityBlocks) {
    this.capacityBlocks = capacityBlocks;
    this.cache = LinkedHashMap.newLinkedHashMap(1024);
  }

  /// An instance that shares the cache of `other`.
  ModelInstance(ModelInstance other) {
    this.capacityBlocks = other.capacityBlocks;
    this.cache = other.cache;
  }

  /// Leading blocks that the cache has.
  int prefix(long[] names) {
    int blocks = 0;
    while (blocks < names.length && cache.containsKey(names[blocks])) {
      blocks++;
    }
    return blocks;
  }

  /// Makes the blocks of a prompt the newest, the first of them last, and evicts what is beyond the capacity.
  Change use(long[] names) {
    List<Long> stored = new ArrayList<>();
    for (int i = names.length - 1; i >= 0; i--) {
      if (cache.remove(names[i]) == null) {
        stored.add(names[i]);
      }
      cache.put(names[i], true);
    }
    List<Long> evicted = new ArrayList<>();
    for (Iterator<Long> oldest = cache.keySet().iterator(); cache.size() > capacityBlocks;) {
      evicted.add(oldest.next());
      oldest.remove();
    }
    return new Change(stored, evicted);
  }
}
