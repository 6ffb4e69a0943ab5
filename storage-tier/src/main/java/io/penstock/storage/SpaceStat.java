package io.penstock.storage;

import io.penstock.KvException;
import org.jspecify.annotations.Nullable;

/// What of a disk a journal takes, and what moving blocks costs.
///
/// @param segments segments there are
/// @param segmentBytes what each of them counts
/// @param liveBytes bytes of records that count
/// @param userBytes bytes of records that were put since the opening
/// @param movedBytes bytes of records that were moved since the opening
/// @param reclaimed segments whose blocks were all moved
/// @param corrupt blocks that were found damaged when they were to be moved, and are gone
/// @param unreadable blocks that the medium did not give, though it gave others, and that are gone
/// @param failure of the newest attempt to move or to delete, if it failed, or what keeps a segment from being emptied;
///     it is tried again
public record SpaceStat(int segments, long segmentBytes, long liveBytes, long userBytes, long movedBytes,
    long reclaimed, long corrupt, long unreadable,
    @Nullable KvException failure) {
  /// Bytes of all segments.
  public long heldBytes() {
    return segments * segmentBytes;
  }

  /// Bytes written for each byte put; 1 if nothing was.
  public double writeAmplification() {
    return userBytes == 0 ? 1 : (double) (userBytes + movedBytes) / userBytes;
  }
}
