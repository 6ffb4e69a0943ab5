package io.penstock.node.sweep;

import io.penstock.block.EvictionPolicy;

/// Result of one policy at one capacity.
///
/// @param capacity in blocks
/// @param blockRefs references to blocks
/// @param hits blocks that were present when their turn came
/// @param hitRate `hits` as a share of `blockRefs`
/// @param prefixHits blocks of the longest prefix of each request that was present when the request came
/// @param prefixHitRate `prefixHits` as a share of `blockRefs`
/// @param tokensReused tokens of these prefixes
record SweepResult(EvictionPolicy policy, long capacity, long blockRefs, long hits, double hitRate, long prefixHits,
    double prefixHitRate, long tokensReused) {
  static SweepResult of(EvictionPolicy policy, long capacity, long blockRefs, long hits, long prefixHits,
      long tokensReused) {
    return new SweepResult(policy, capacity, blockRefs, hits, share(hits, blockRefs), prefixHits,
        share(prefixHits, blockRefs), tokensReused);
  }

  private static double share(long part, long whole) {
    return whole == 0 ? 0 : (double) part / whole;
  }
}
