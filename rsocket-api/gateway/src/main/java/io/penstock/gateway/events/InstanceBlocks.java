package io.penstock.gateway.events;

import io.penstock.gateway.choice.BlockIndex;
import io.penstock.gateway.choice.Medium;
import java.util.HashMap;
import java.util.Map;

/// The blocks of one instance, each counted once for every publisher's block that has its name. The index learns of the
/// first and of the last.
///
/// - Threads: one.
final class InstanceBlocks {
  private static final int MEDIA = Medium.EXPECTED.ordinal();

  private final BlockIndex index;
  private final int instance;
  private final Map<Long, int[]> counts = new HashMap<>();

  InstanceBlocks(BlockIndex index, int instance) {
    this.index = index;
    this.instance = instance;
  }

  void add(long[] names, Medium medium) {
    for (long name : names) {
      if (counts.computeIfAbsent(name, key -> new int[MEDIA])[medium.ordinal()]++ == 0) {
        index.add(instance, medium, name);
      }
    }
  }

  void remove(long[] names, Medium medium) {
    for (long name : names) {
      int[] count = counts.get(name);
      if (count != null && --count[medium.ordinal()] == 0) {
        index.remove(instance, medium, name);
        if (count[0] + count[1] + count[2] == 0) {
          counts.remove(name);
        }
      }
    }
  }

  int size() {
    return counts.size();
  }
}
