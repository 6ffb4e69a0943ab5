package io.penstock.gateway.simulate;

/// What came of a trace under one policy.
///
/// @param policy name of the row
/// @param blocks of all prompts
/// @param hitBlocks leading blocks of prompts that were in the cache of the instance when it began to compute
/// @param reuse hit blocks as a part of those of the oracle
/// @param p50Millis median time to the first token
/// @param p99Millis 99th percentile of it
/// @param mostLoaded requests of the instance with most, as a multiple of the mean
record FleetResult(String policy, long blocks, long hitBlocks, double reuse, double p50Millis, double p99Millis,
    double mostLoaded) {
  double hitRate() {
    return blocks == 0 ? 0 : (double) hitBlocks / blocks;
  }
}
