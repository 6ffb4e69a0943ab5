package io.penstock.tier;

import io.penstock.tier.TierEvent.Level;

/// Receives the work of a tier, for meters. Called on hot paths, outside locks, after waiting readers were signalled.
/// Must be quick.
public interface TierListener {
  /// `hits` of `references` keys of one lease counted as hits.
  default void referenced(int references, int hits) {}

  /// `blocks` became visible.
  default void stored(int blocks, long bytes) {}

  /// The policy evicted one block.
  default void evicted(long bytes) {}

  /// A block was quarantined.
  default void corrupt() {}

  /// The tier lost `blocks`: they were damaged, or a store failed to take or give them.
  default void lost(int blocks) {}

  /// `blocks` that were on level `from` have arrived on level `to`: promoted or demoted.
  default void moved(Level from, Level to, int blocks, long bytes) {}

  /// A listener that ignores everything.
  static TierListener noop() {
    return new TierListener() {};
  }
}
