package io.penstock.tier;

import java.util.List;

/// Figures of a tier at one moment; counters run from its opening.
///
/// @param blocks visible blocks
/// @param capacityBlocks most blocks, `Long.MAX_VALUE` if unbounded
/// @param bytes payload bytes of the visible blocks
/// @param claimedBytes payload bytes of all memory lent: visible, being written, leased after eviction
/// @param hits references that found their block
/// @param misses references that did not
/// @param stored blocks made visible
/// @param evicted blocks evicted by the policy
/// @param corrupt blocks quarantined
/// @param lastSequence sequence of the newest event, 0 before the first
/// @param levels figures of its levels, fastest first; empty if they are not told
public record TierStat(long blocks, long capacityBlocks, long bytes, long claimedBytes, long hits, long misses, long stored,
    long evicted, long corrupt, long lastSequence, List<LevelStat> levels) {
  public TierStat {
    levels = List.copyOf(levels);
  }
}
