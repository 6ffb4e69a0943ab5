package io.penstock.storage.check;

import io.penstock.block.BlockKey;
import io.penstock.storage.record.RecordHead;
import io.penstock.storage.record.RecordKind;
import io.penstock.storage.record.RecordName;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/// All records with a good head, and which of them count.
final class Inventory {
  /// A block's record.
  record Entry(BlockKey key, int segment) {}

  private final TreeMap<Long, Entry> blocks = new TreeMap<>();
  private final TreeMap<Long, Entry> dead = new TreeMap<>();
  /// Damaged ones, of which the key is known.
  private final Map<Long, BlockKey> damaged = new HashMap<>();
  private final Map<Integer, Integer> removalsOf = new HashMap<>();
  private final List<RecordName> removed = new ArrayList<>();

  void add(int segment, RecordHead head) {
    if (head.kind() == RecordKind.BLOCK) {
      blocks.put(head.sequence(), new Entry(head.key(), segment));
    } else {
      removalsOf.merge(segment, 1, Integer::sum);
      removed.addAll(head.removals());
    }
  }

  void addDamaged(BlockKey key, long sequence) {
    damaged.put(sequence, key);
  }

  /// Tells what counts from what does not, once all is in.
  void settle() {
    for (RecordName name : removed) {
      damaged.remove(name.sequence(), name.key());
      Entry entry = blocks.get(name.sequence());
      if (entry != null && entry.key().equals(name.key())) {
        bury(name.sequence());
      }
    }
    Map<BlockKey, Long> newest = new HashMap<>();
    for (Map.Entry<Long, Entry> each : List.copyOf(blocks.entrySet())) {
      Long older = newest.put(each.getValue().key(), each.getKey());
      if (older != null) {
        bury(older);
      }
    }
    damaged.entrySet().removeIf(each -> newest.getOrDefault(each.getValue(), 0L) > each.getKey());
  }

  private void bury(long sequence) {
    Entry entry = blocks.remove(sequence);
    if (entry != null) {
      dead.put(sequence, entry);
    }
  }

  /// Whether a damaged record would count, were it whole.
  boolean isMissed(long sequence) {
    return damaged.containsKey(sequence);
  }

  /// The live blocks: of each segment how many.
  Map<Integer, Long> live() {
    return count(blocks);
  }

  Map<Integer, Long> dead() {
    return count(dead);
  }

  long removals(int segment) {
    return removalsOf.getOrDefault(segment, 0);
  }

  private static Map<Integer, Long> count(Map<Long, Entry> of) {
    Map<Integer, Long> counts = new HashMap<>();
    of.values().forEach(entry -> counts.merge(entry.segment(), 1L, Long::sum));
    return counts;
  }
}
