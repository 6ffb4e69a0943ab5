package io.penstock.tier;

/// What a [TierStack] does beside its policy, and how far behind its disk is; counters run from its opening.
///
/// @param queuedBlocks blocks that wait for a disk, or are being put to it
/// @param queuedBytes bytes of these blocks
/// @param mostQueuedBlocks the longest queue so far
/// @param queueBlocks length at which a reservation begins to wait, `Long.MAX_VALUE` if host memory alone bounds it
/// @param queueMillis wait of all blocks together, until they were stored or refused
/// @param longestMillis longest wait of a block
/// @param withheld reservations that had to wait for the queue
/// @param held hits of blocks on a disk that were too few to promote them
/// @param prefetched blocks that were read before their reader asked for them
/// @param useful prefetched blocks that the reader then asked for
/// @param wasted prefetched blocks that the reader never asked for
/// @param evictedForRoom blocks evicted because a store had no room
public record TieringStat(long queuedBlocks, long queuedBytes, long mostQueuedBlocks, long queueBlocks,
    long queueMillis, long longestMillis,
    long withheld, long held, long prefetched, long useful, long wasted, long evictedForRoom) {
  /// Of a tier that does nothing of that.
  public static final TieringStat NONE = new TieringStat(0, 0, 0, Long.MAX_VALUE, 0, 0, 0, 0, 0, 0, 0, 0);
}
