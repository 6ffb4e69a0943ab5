package io.penstock.examples.conversations;

import io.penstock.tier.TierStat;

/// Blocks of prompts that no prefill had to compute, by their source.
///
/// @param hbm device memory
/// @param dram host memory
/// @param ssd the disk
/// @param shared blocks of the system prompt that another conversation computed at the start, for all of them
record Reused(long hbm, long dram, long ssd, long shared) {
  static final Reused NONE = new Reused(0, 0, 0, 0);

  static Reused shared(long blocks) {
    return new Reused(0, 0, 0, blocks);
  }

  /// The hits of each level of a node, since it was opened.
  static Reused hits(TierStat stat) {
    return new Reused(hits(stat, ConversationNode.HBM), hits(stat, ConversationNode.DRAM),
        hits(stat, ConversationNode.SSD), 0);
  }

  private static long hits(TierStat stat, String level) {
    return stat.levels().stream().filter(one -> one.name().equals(level)).mapToLong(TierStat.Level::hits).sum();
  }

  Reused plus(Reused more) {
    return new Reused(hbm + more.hbm, dram + more.dram, ssd + more.ssd, shared + more.shared);
  }

  Reused minus(Reused less) {
    return new Reused(hbm - less.hbm, dram - less.dram, ssd - less.ssd, shared - less.shared);
  }

  long blocks() {
    return hbm + dram + ssd + shared;
  }
}
