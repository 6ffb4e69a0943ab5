package io.penstock.storage.check;

import io.penstock.block.BlockKey;
import io.penstock.block.SpaceId;
import io.penstock.storage.checkpoint.RecordSummary;
import io.penstock.storage.record.RecordKind;
import io.penstock.storage.record.RecordName;
import io.penstock.storage.record.RecordNames;
import java.util.HashMap;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;

/// All whole records, and which of them count: 28 bytes each, and 11 at most to find them.
final class Inventory {
  /// Blocks, by their segments.
  private final Map<SpaceId, RecordNames> blocks = new HashMap<>();
  /// Older records of blocks, by their sequences, and their segments: one counts again if the newer ones were removed.
  private final Map<BlockKey, NavigableMap<Long, Integer>> replaced = new HashMap<>();
  private final Map<Integer, Long> dead = new HashMap<>();
  /// Damaged ones, of which the key is known.
  private final Map<Long, BlockKey> damaged = new HashMap<>();

  void add(RecordSummary record) {
    if (record.kind() == RecordKind.BLOCK) {
      addBlock(record);
    } else {
      record.removals().forEach(this::remove);
    }
  }

  private void addBlock(RecordSummary record) {
    RecordNames there = of(record.key());
    int row = there.row(record.key().hash());
    boolean isThere = row != RecordNames.NONE && there.number(row) != RecordNames.NONE;
    if (isThere && there.sequence(row) >= record.sequence()) {
      if (there.sequence(row) > record.sequence()) { // else it is a copy
        replace(record.key(), record.sequence(), record.at().segment());
      }
      die(record.at().segment());
      return;
    }
    if (isThere) {
      replace(record.key(), there.sequence(row), there.number(row));
      die(there.number(row));
    }
    there.put(record.key().hash(), record.sequence(), record.at().segment());
  }

  private RecordNames of(BlockKey key) {
    return blocks.computeIfAbsent(key.space(), space -> new RecordNames());
  }

  private void remove(RecordName name) {
    damaged.remove(name.sequence(), name.key());
    RecordNames there = of(name.key());
    int row = there.row(name.key().hash());
    if (row != RecordNames.NONE && there.number(row) != RecordNames.NONE && there.sequence(row) == name.sequence()) {
      die(there.number(row));
      there.drop(row);
      revive(name.key(), there);
    } else {
      replaced.getOrDefault(name.key(), new TreeMap<>()).remove(name.sequence());
    }
  }

  private void replace(BlockKey key, long sequence, int segment) {
    replaced.computeIfAbsent(key, any -> new TreeMap<>()).put(sequence, segment);
  }

  private void revive(BlockKey key, RecordNames there) {
    Map.Entry<Long, Integer> newest = replaced.getOrDefault(key, new TreeMap<>()).pollLastEntry();
    if (newest != null) {
      there.put(key.hash(), newest.getKey(), newest.getValue());
      dead.merge(newest.getValue(), -1L, Long::sum);
    }
  }

  private void die(int segment) {
    dead.merge(segment, 1L, Long::sum);
  }

  void addDamaged(BlockKey key, long sequence) {
    damaged.put(sequence, key);
  }

  /// Whether a damaged record would count, were it whole: no newer one of its key is there.
  boolean isMissed(long sequence) {
    BlockKey key = damaged.get(sequence);
    RecordNames there = key == null ? null : blocks.get(key.space());
    int row = key == null || there == null ? RecordNames.NONE : there.row(key.hash());
    boolean isReplaced = there != null && row != RecordNames.NONE && there.number(row) != RecordNames.NONE
        && there.sequence(row) > sequence;
    return key != null && !isReplaced;
  }

  /// Blocks of a segment that count no more.
  long dead(int segment) {
    return dead.getOrDefault(segment, 0L);
  }
}
