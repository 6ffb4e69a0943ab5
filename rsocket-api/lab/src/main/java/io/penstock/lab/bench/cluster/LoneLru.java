package io.penstock.lab.bench.cluster;

import io.penstock.block.BlockKey;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/// One pool of the textbook policy, as large as all nodes together, without bytes.
final class LoneLru {
  private final Map<BlockKey, Boolean> order;

  LoneLru(long blocks) {
    this.order = new LinkedHashMap<>(16, 0.75f, true) {
      private static final long serialVersionUID = 1;

      @Override
      protected boolean removeEldestEntry(Map.Entry<BlockKey, Boolean> eldest) {
        return size() > blocks;
      }
    };
  }

  /// Refers to `keys` in order, as a request does.
  ///
  /// @return how many of them, from the first on, were there
  int prefix(List<BlockKey> keys) {
    int prefix = 0;
    while (prefix < keys.size() && order.containsKey(keys.get(prefix))) {
      prefix++;
    }
    keys.forEach(key -> order.put(key, true));
    return prefix;
  }
}
