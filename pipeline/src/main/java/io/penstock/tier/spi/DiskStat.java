package io.penstock.tier.spi;

import java.util.List;

/// What a store on a disk does besides giving and taking blocks; counters run from its opening.
///
/// @param unsyncedBytes written and not forced to the medium yet
/// @param unsyncedMillis age of the oldest of them; 0 if there is none
/// @param syncs those that succeeded
/// @param failedSyncs those that did not
/// @param uncertainBytes covered by a sync that failed: nobody knows whether they are on the medium
/// @param segments files there are
/// @param heldBytes bytes of these
/// @param liveBytes bytes of the blocks in them that count
/// @param putBytes bytes of blocks that were put
/// @param movedBytes bytes of blocks that were moved together, so that files could go
/// @param reclaimed files that went after that
/// @param scrubPasses times that all blocks were read in the background
/// @param scrubbedBytes bytes that were
/// @param damaged blocks found damaged by that, when they were to be moved, at the opening, or when they were read, and
///     gone
/// @param unreadable blocks that the medium did not give, tried more than once, though it gave others, and gone:
///     whoever asked for them
/// @param unkept damaged blocks whose bytes are not kept aside, because the quarantine is full or the disk failed
/// @param damagedAtOpening of the damaged ones, those that the opening found
/// @param keptSegments files that stay as they are, since the opening found blocks in them that only a repair brings
///     back
/// @param problems the newest failure of each of these works that has failed, and is tried again; and what the opening
///     found that must be known
public record DiskStat(long unsyncedBytes, long unsyncedMillis, long syncs, long failedSyncs, long uncertainBytes,
    int segments, long heldBytes,
    long liveBytes, long putBytes, long movedBytes, long reclaimed, long scrubPasses, long scrubbedBytes, long damaged,
    long unreadable,
    long unkept, long damagedAtOpening, int keptSegments, List<String> problems) {
  /// Of a disk that has done nothing yet.
  public static final DiskStat NONE = new DiskStat(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, List.of());

  public DiskStat {
    problems = List.copyOf(problems);
  }

  /// Bytes written for each byte put; 1 if nothing was.
  public double writeAmplification() {
    return putBytes == 0 ? 1 : (double) (putBytes + movedBytes) / putBytes;
  }
}
