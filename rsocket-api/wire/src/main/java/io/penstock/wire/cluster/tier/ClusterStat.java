package io.penstock.wire.cluster.tier;

import io.penstock.tier.TierStat;
import java.util.List;

/// Sums of the figures of members.
record ClusterStat(long blocks, long capacityBlocks, long bytes, long claimedBytes, long hits, long misses,
    long stored, long evicted, long corrupt) {
  static final ClusterStat NONE = new ClusterStat(0, 0, 0, 0, 0, 0, 0, 0, 0);

  ClusterStat plus(TierStat one) {
    long capacity = capacityBlocks + one.capacityBlocks();
    return new ClusterStat(blocks + one.blocks(), capacity < 0 ? Long.MAX_VALUE : capacity, bytes + one.bytes(),
        claimedBytes + one.claimedBytes(), hits + one.hits(), misses + one.misses(), stored + one.stored(),
        evicted + one.evicted(), corrupt + one.corrupt());
  }

  /// Without levels: those of one member say nothing of another. Events of the cluster have no lasting numbers.
  TierStat stat() {
    return new TierStat(blocks, capacityBlocks, bytes, claimedBytes, hits, misses, stored, evicted, corrupt, 0,
        List.of());
  }
}
