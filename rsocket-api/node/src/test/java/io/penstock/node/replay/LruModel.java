package io.penstock.node.replay;

import java.util.LinkedHashMap;
import java.util.List;

/// The textbook: for each reference in order touch the block, or insert it and evict the least recently used one if
/// that is one too many.
public final class LruModel {
  private final long capacityBlocks;
  private final LinkedHashMap<Long, Boolean> blocks = new LinkedHashMap<>(16, 0.75f, true);

  public LruModel(long capacityBlocks) {
    this.capacityBlocks = capacityBlocks;
  }

  /// What happened to the references of one request.
  public record Outcome(int hits, int prefixHits) {}

  public Outcome request(List<Long> ids) {
    int hits = 0;
    int prefix = 0;
    for (int i = 0; i < ids.size(); i++) {
      if (blocks.get(ids.get(i)) != null) {
        hits++;
        prefix += prefix == i ? 1 : 0;
      } else {
        insert(ids.get(i));
      }
    }
    return new Outcome(hits, prefix);
  }

  private void insert(long id) {
    blocks.put(id, true);
    if (blocks.size() > capacityBlocks) {
      blocks.remove(blocks.keySet().iterator().next());
    }
  }
}
