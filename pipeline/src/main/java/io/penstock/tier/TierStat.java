package io.penstock.tier;

import static java.util.Objects.requireNonNull;

import java.util.List;

/// Figures of a tier at one moment; counters run from its opening.
///
/// @param blocks visible blocks
/// @param capacityBlocks most blocks, `Long.MAX_VALUE` if unbounded
/// @param bytes payload bytes of the visible blocks
/// @param claimedBytes payload bytes of all memory lent: visible, being written, leased after eviction
/// @param hits references that found their block
/// @param misses references that did not find it
/// @param stored blocks made visible
/// @param evicted blocks evicted by the policy
/// @param corrupt blocks quarantined
/// @param lastSequence sequence of the newest event, 0 before the first
/// @param levels figures of its levels, fastest first; empty if it reports none
/// @param tiering how far behind its disk is, and what it does beside its policy
/// @param memory the host memory under it, by kind; empty if it reports none
public record TierStat(long blocks, long capacityBlocks, long bytes, long claimedBytes, long hits, long misses,
    long stored, long evicted, long corrupt, long lastSequence, List<LevelStat> levels, TieringStat tiering,
    List<MemoryStat> memory) {
  public TierStat {
    levels = List.copyOf(levels);
    requireNonNull(tiering, "tiering");
    memory = memory == null ? List.of() : List.copyOf(memory); // null from a node that does not know of it
  }

  /// Of a tier that reports no memory.
  public TierStat(long blocks, long capacityBlocks, long bytes, long claimedBytes, long hits, long misses, long stored,
      long evicted, long corrupt, long lastSequence, List<LevelStat> levels, TieringStat tiering) {
    this(blocks, capacityBlocks, bytes, claimedBytes, hits, misses, stored, evicted, corrupt, lastSequence, levels,
        tiering, List.of());
  }

  /// Of a tier that does nothing beside its policy.
  public TierStat(long blocks, long capacityBlocks, long bytes, long claimedBytes, long hits, long misses, long stored,
      long evicted, long corrupt, long lastSequence, List<LevelStat> levels) {
    this(blocks, capacityBlocks, bytes, claimedBytes, hits, misses, stored, evicted, corrupt, lastSequence, levels,
        TieringStat.NONE);
  }

  public TierStat withMemory(List<MemoryStat> memory) {
    return new TierStat(blocks, capacityBlocks, bytes, claimedBytes, hits, misses, stored, evicted, corrupt,
        lastSequence, levels, tiering, memory);
  }
}
