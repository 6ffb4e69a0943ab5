package io.penstock.storage.check;

import io.penstock.block.BlockKey;
import io.penstock.block.SpaceId;
import io.penstock.storage.checkpoint.Noted;
import io.penstock.storage.record.RecordKind;
import io.penstock.storage.record.RecordName;
import io.penstock.storage.record.RecordNames;
import java.util.HashMap;
import java.util.Map;

/// All records with a good head, and which of them count: 28 bytes each, and 11 at most while they are settled.
final class Inventory {
  /// Blocks, by their segments.
  private final Map<SpaceId, RecordNames> blocks = new HashMap<>();
  private final Map<Integer, Long> dead = new HashMap<>();
  /// Damaged ones, of which the key is known.
  private final Map<Long, BlockKey> damaged = new HashMap<>();

  /// @param record with a higher sequence than all before; what it removes is in
  void add(Noted record) {
    if (record.kind() == RecordKind.BLOCK) {
      of(record.key()).add(record.key().hash(), record.sequence(), record.at().segment());
    } else {
      record.removals().forEach(this::remove);
    }
  }

  private RecordNames of(BlockKey key) {
    return blocks.computeIfAbsent(key.space(), space -> new RecordNames());
  }

  private void remove(RecordName name) {
    damaged.remove(name.sequence(), name.key());
    RecordNames there = of(name.key());
    int row = there.row(name.key().hash(), name.sequence());
    if (row != RecordNames.NONE) {
      die(there, row);
    }
  }

  private void die(RecordNames there, int row) {
    dead.merge(there.number(row), 1L, Long::sum);
    there.drop(row);
  }

  void addDamaged(BlockKey key, long sequence) {
    damaged.put(sequence, key);
  }

  /// Tells what counts from what does not, once all is in.
  void settle() {
    blocks.values().forEach(there -> there.older(row -> die(there, row)));
    if (!damaged.isEmpty()) {
      blocks.forEach(this::forgetReplaced);
    }
  }

  /// A damaged block counts no more if a newer one of its key is there.
  private void forgetReplaced(SpaceId space, RecordNames there) {
    Map<BlockKey, Long> newest = new HashMap<>();
    damaged.values().forEach(key -> newest.put(key, 0L));
    for (int row = 0; row < there.size(); row++) {
      long sequence = there.sequence(row);
      if (there.number(row) != RecordNames.NONE) {
        newest.computeIfPresent(new BlockKey(space, there.hash(row)), (key, older) -> sequence);
      }
    }
    damaged.entrySet().removeIf(each -> newest.getOrDefault(each.getValue(), 0L) > each.getKey());
  }

  /// Whether a damaged record would count, were it whole.
  boolean isMissed(long sequence) {
    return damaged.containsKey(sequence);
  }

  /// Blocks of a segment that count no more.
  long dead(int segment) {
    return dead.getOrDefault(segment, 0L);
  }
}
