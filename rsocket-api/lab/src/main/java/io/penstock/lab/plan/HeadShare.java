package io.penstock.lab.plan;

import io.penstock.check.Checks;

/// Names of heads in one pool for two sides with unequal tensor parallelism: names follow the ranks of the larger side.
/// A rank of the smaller side stands for several of these, and so reads and writes several sub-keys.
///
/// @param enabled whether the sides differ and the pool can serve both
/// @param ranks of the namespace
/// @param localHeads KV heads of one rank of this side
/// @param heads KV heads of one key
/// @param subKeys keys for each block of one rank of this side
public record HeadShare(boolean enabled, int ranks, int localHeads, int heads, int subKeys) {
  /// @param localRanks ranks of this side
  /// @param peerRanks ranks of the other side
  /// @param kvHeads of the model
  /// @param divisible whether heads are cached one by one: not latents, and not beside other kinds of groups
  public static HeadShare of(int localRanks, int peerRanks, int kvHeads, boolean divisible) {
    int ranks = Math.max(Checks.positive("localRanks", localRanks), Checks.positive("peerRanks", peerRanks));
    int local = Math.max(1, Checks.positive("kvHeads", kvHeads) / localRanks);
    boolean enabled = localRanks != peerRanks && divisible && kvHeads % ranks == 0;
    int heads = enabled ? kvHeads / ranks : local;
    return new HeadShare(enabled, ranks, local, heads, local / heads);
  }
}
