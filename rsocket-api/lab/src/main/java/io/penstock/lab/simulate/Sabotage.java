package io.penstock.lab.simulate;

import io.penstock.tier.BlockTier;
import java.util.function.UnaryOperator;

/// A bug planted in a run, to see it found out.
///
/// @param tier stands between the server and the real tier, below the watch
/// @param extraBudgetBytes by how much a decode party's budget grants too much
record Sabotage(UnaryOperator<BlockTier> tier, long extraBudgetBytes) {
  static final Sabotage NONE = new Sabotage(UnaryOperator.identity(), 0);

  static Sabotage ofTier(UnaryOperator<BlockTier> tier) {
    return new Sabotage(tier, 0);
  }
}
