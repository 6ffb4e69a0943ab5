package io.penstock.gateway.choice;

import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;

/// Blocks of prompts that were sent to an instance, in the index as [Medium#EXPECTED]: the next turn of a conversation
/// often comes before the events of the turn before. Bounded: the oldest are dropped. An instance that tells what it
/// stores is expected to do so within a time; one that does not is taken for an LRU cache of `most` blocks.
final class ExpectedBlocks {
  private final BlockIndex index;
  private final int instance;
  private final int most;
  private final long lifeNanos;
  /// Until when each is expected, the oldest first.
  private final Map<Long, Long> until = LinkedHashMap.newLinkedHashMap(64);

  /// @param lifeNanos how long a block is expected; [Long#MAX_VALUE] for as long as there is room
  ExpectedBlocks(BlockIndex index, int instance, int most, long lifeNanos) {
    this.index = index;
    this.instance = instance;
    this.most = most;
    this.lifeNanos = lifeNanos;
  }

  void add(long[] names, long nowNanos) {
    drop(nowNanos);
    long end = lifeNanos == Long.MAX_VALUE ? Long.MAX_VALUE : nowNanos + lifeNanos;
    for (int i = names.length - 1; i >= 0; i--) { // the first block of a prompt is the last to be dropped
      if (until.remove(names[i]) == null) {
        index.add(instance, Medium.EXPECTED, names[i]);
      }
      until.put(names[i], end);
    }
    for (Iterator<Long> oldest = until.keySet().iterator(); until.size() > most;) {
      index.remove(instance, Medium.EXPECTED, oldest.next());
      oldest.remove();
    }
  }

  /// Drops what is expected no longer.
  void drop(long nowNanos) {
    if (lifeNanos == Long.MAX_VALUE) {
      return;
    }
    for (Iterator<Map.Entry<Long, Long>> all = until.entrySet().iterator(); all.hasNext();) {
      Map.Entry<Long, Long> oldest = all.next();
      if (oldest.getValue() - nowNanos > 0) {
        return;
      }
      index.remove(instance, Medium.EXPECTED, oldest.getKey());
      all.remove();
    }
  }
}
