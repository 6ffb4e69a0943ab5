package io.penstock.tier;

/// What a [TierStack] does beside its policy, and how far behind its disk is; counters run from its opening.
///
/// @param queuedBlocks blocks that wait for a disk, or are being put to it
/// @param queuedBytes bytes of these
/// @param mostQueuedBlocks the most that there ever were
/// @param queueBlocks at which a reservation begins to wait, `Long.MAX_VALUE` if that is left to host memory
/// @param queueMillis what all blocks together have waited, until they were at rest or refused
/// @param longestMillis what the slowest of them has
/// @param withheld reservations that had to wait for the queue
/// @param held hits of blocks on a disk that did not rise, since they were too few
/// @param prefetched blocks that were read before their reader asked for them
/// @param useful how many of these he then asked for
/// @param wasted how many he did not
/// @param givenBack blocks given up because a store had no room
public record TieringStat(long queuedBlocks, long queuedBytes, long mostQueuedBlocks, long queueBlocks,
    long queueMillis, long longestMillis,
    long withheld, long held, long prefetched, long useful, long wasted, long givenBack) {
  /// Of a tier that has no such thing.
  public static final TieringStat NONE = new TieringStat(0, 0, 0, Long.MAX_VALUE, 0, 0, 0, 0, 0, 0, 0, 0);
}
