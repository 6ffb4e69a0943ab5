package io.penstock.storage.checkpoint;

import io.penstock.block.BlockKey;
import io.penstock.storage.engine.Location;
import io.penstock.storage.record.RecordHead;
import io.penstock.storage.record.RecordKind;
import io.penstock.storage.record.RecordName;
import java.util.List;

/// Part of a record's head that an opening needs.
///
/// @param at place of the record
/// @param key of the block; for a removal only the space is valid
/// @param sequence of the record
/// @param crc of its head
/// @param removals records that a removal names; empty for a block
public record RecordSummary(Location at, BlockKey key, long sequence, int crc, List<RecordName> removals) {
  public RecordSummary {
    removals = List.copyOf(removals);
  }

  /// The summary of `head`, which lies at `at`.
  public static RecordSummary of(Location at, RecordHead head) {
    return new RecordSummary(at, head.key(), head.sequence(), head.crc(), head.removals());
  }

  public RecordKind kind() {
    return removals.isEmpty() ? RecordKind.BLOCK : RecordKind.REMOVAL;
  }
}
