package io.penstock.storage.check;

import io.penstock.block.BlockKey;
import io.penstock.storage.checkpoint.RecordSummary;
import io.penstock.storage.engine.SegmentWindow;
import io.penstock.storage.record.RecordKind;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// A record with a whole head, found by a walk.
///
/// @param summary of its head
/// @param segment that the record names
/// @param difference from the written bytes; null if none was found
/// @param isFinished whether the record was written to its end
public record FoundRecord(RecordSummary summary, int segment, RecordCheck.@Nullable Difference difference,
    boolean isFinished) {
  public long offset() {
    return summary.at().offset();
  }

  /// One past its last byte.
  public long end() {
    return offset() + summary.at().length();
  }

  /// Whether the record counts: no byte of its payload differs.
  public boolean isGood() {
    return difference == null || difference.kind() != DamageKind.PAYLOAD;
  }

  /// The block's key; null for a removal.
  public @Nullable BlockKey key() {
    return summary.kind() == RecordKind.BLOCK ? summary.key() : null;
  }

  /// The records of `found` that are of the segment in `file`. A file that is written anew holds older records behind
  /// the new ones, which name another segment. If the file does not name its segment, and no record names `segment`,
  /// the file was renamed, and all records count.
  public static List<FoundRecord> ofSegment(List<FoundRecord> found, SegmentWindow file, int segment) {
    int held = file.number() > 0 ? file.number() : segment;
    List<FoundRecord> own = found.stream().filter(each -> each.segment() == held).toList();
    return own.isEmpty() && file.number() == 0 ? List.copyOf(found) : own;
  }
}
