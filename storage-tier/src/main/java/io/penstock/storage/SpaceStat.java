package io.penstock.storage;

import io.penstock.KvException;
import org.jspecify.annotations.Nullable;

/// How much of the disk a journal takes, and what compaction costs.
///
/// @param segments number of segments
/// @param segmentBytes bytes that each counts
/// @param liveBytes bytes of live records
/// @param userBytes bytes of records put since the opening
/// @param movedBytes bytes of records moved since the opening
/// @param reclaimed segments emptied
/// @param corrupt blocks that compaction found damaged
/// @param unreadable blocks that are lost because the disk does not give them
/// @param failure of the newest move or delete, or why a segment cannot be emptied; null if nothing failed
public record SpaceStat(int segments, long segmentBytes, long liveBytes, long userBytes, long movedBytes,
    long reclaimed, long corrupt, long unreadable,
    @Nullable KvException failure) {
  /// Bytes of all segments.
  public long heldBytes() {
    return segments * segmentBytes;
  }

  /// Bytes written for each byte put; 1 before the first put.
  public double writeAmplification() {
    return userBytes == 0 ? 1 : (double) (userBytes + movedBytes) / userBytes;
  }
}
