package io.penstock.storage.check;

import io.penstock.block.BlockKey;
import io.penstock.storage.checkpoint.Noted;
import io.penstock.storage.record.RecordKind;
import io.penstock.storage.record.RecordName;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// All records with a good head, and which of them count.
final class Inventory {
  private static final int NONE = -1;

  /// Blocks, by rising sequence.
  private final List<Noted> blocks = new ArrayList<>();
  private final BitSet dead = new BitSet();
  /// Damaged ones, of which the key is known.
  private final Map<Long, BlockKey> damaged = new HashMap<>();
  private final List<RecordName> removed = new ArrayList<>();

  /// @param record with a higher sequence than all before
  void add(Noted record) {
    if (record.kind() == RecordKind.BLOCK) {
      blocks.add(record);
    } else {
      removed.addAll(record.removals());
    }
  }

  void addDamaged(BlockKey key, long sequence) {
    damaged.put(sequence, key);
  }

  /// Tells what counts from what does not, once all is in.
  void settle() {
    for (RecordName name : removed) {
      damaged.remove(name.sequence(), name.key());
      int index = index(name.sequence());
      if (index != NONE && blocks.get(index).key().equals(name.key())) {
        dead.set(index);
      }
    }
    Map<BlockKey, Integer> newest = HashMap.newHashMap(blocks.size() - dead.cardinality());
    for (int i = dead.nextClearBit(0); i < blocks.size(); i = dead.nextClearBit(i + 1)) {
      Integer older = newest.put(blocks.get(i).key(), i);
      if (older != null) {
        dead.set(older);
      }
    }
    damaged.entrySet().removeIf(each -> sequence(newest.get(each.getValue())) > each.getKey());
  }

  private long sequence(@Nullable Integer index) {
    return index == null ? 0 : blocks.get(index).sequence();
  }

  private int index(long sequence) {
    int low = 0;
    int high = blocks.size() - 1;
    while (low <= high) {
      int middle = (low + high) >>> 1;
      long there = blocks.get(middle).sequence();
      if (there == sequence) {
        return middle;
      }
      if (there < sequence) {
        low = middle + 1;
      } else {
        high = middle - 1;
      }
    }
    return NONE;
  }

  /// Whether a damaged record would count, were it whole.
  boolean isMissed(long sequence) {
    return damaged.containsKey(sequence);
  }

  /// The blocks that count: of each segment how many.
  Map<Integer, Long> live() {
    return count(false);
  }

  Map<Integer, Long> dead() {
    return count(true);
  }

  private Map<Integer, Long> count(boolean isDead) {
    Map<Integer, Long> counts = new HashMap<>();
    for (int i = 0; i < blocks.size(); i++) {
      if (dead.get(i) == isDead) {
        counts.merge(blocks.get(i).at().segment(), 1L, Long::sum);
      }
    }
    return counts;
  }
}
