package io.penstock.tier.spi;

import java.util.List;

/// What a store on a disk does besides taking and giving blocks; counters run from its opening.
///
/// @param unsyncedBytes bytes written and not forced to the medium yet
/// @param unsyncedMillis age of the oldest of these bytes; 0 if there are none
/// @param syncs syncs that succeeded
/// @param failedSyncs syncs that failed
/// @param uncertainBytes bytes of a failed sync, which may or may not be on the medium
/// @param segments segment files
/// @param heldBytes bytes of these files
/// @param liveBytes bytes of the live records in them
/// @param putBytes bytes of blocks that were put
/// @param movedBytes bytes of live records that compaction moved
/// @param reclaimed segments that compaction freed
/// @param scrubPasses times that the scrub has read all blocks
/// @param scrubbedBytes bytes that the scrub has read
/// @param damaged blocks found damaged by that, when they were to be moved, at the opening, or when they were read, and
///     gone
/// @param unreadable blocks that the medium did not give, tried more than once, though it gave others, and gone
/// @param unkept damaged blocks whose bytes are not kept aside, because the quarantine is full or the disk failed
/// @param damagedAtOpening of the damaged ones, those that the opening found
/// @param problems the newest failure of each of these works that has failed, and is tried again; and what the opening
///     found that must be known
public record DiskStat(long unsyncedBytes, long unsyncedMillis, long syncs, long failedSyncs, long uncertainBytes,
    int segments, long heldBytes,
    long liveBytes, long putBytes, long movedBytes, long reclaimed, long scrubPasses, long scrubbedBytes, long damaged,
    long unreadable, long unkept, long damagedAtOpening, List<String> problems) {
  /// Of a disk that has done nothing yet.
  public static final DiskStat NONE = new DiskStat(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, List.of());

  public DiskStat {
    problems = List.copyOf(problems);
  }

  /// Bytes written for each byte put; 1 if nothing was.
  public double writeAmplification() {
    return putBytes == 0 ? 1 : (double) (putBytes + movedBytes) / putBytes;
  }
}
