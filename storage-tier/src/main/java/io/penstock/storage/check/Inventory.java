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

/// Distinguishes live records from dead ones: 28 bytes a record, and 11 at most to find it.
final class Inventory {
  /// The newest record of each block; its number is its segment.
  private final Map<SpaceId, RecordNames> blocks = new HashMap<>();
  /// Older records of blocks: segments by sequences. The newest of these counts again when a removal names the record
  /// that replaced it.
  private final Map<BlockKey, NavigableMap<Long, Integer>> replaced = new HashMap<>();
  private final Map<Integer, Long> dead = new HashMap<>();
  /// Keys of damaged records, by their sequences.
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
      if (there.sequence(row) > record.sequence()) { // else it is a copy of the same record
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

  /// Whether a block is lost with a damaged record: there is no newer record of its key.
  boolean isMissed(long sequence) {
    BlockKey key = damaged.get(sequence);
    RecordNames there = key == null ? null : blocks.get(key.space());
    int row = key == null || there == null ? RecordNames.NONE : there.row(key.hash());
    boolean isReplaced = there != null && row != RecordNames.NONE && there.number(row) != RecordNames.NONE
        && there.sequence(row) > sequence;
    return key != null && !isReplaced;
  }

  /// Dead blocks of a segment.
  long dead(int segment) {
    return dead.getOrDefault(segment, 0L);
  }
}
