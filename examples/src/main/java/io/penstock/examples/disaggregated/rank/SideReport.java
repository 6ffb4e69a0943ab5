package io.penstock.examples.disaggregated.rank;

import io.penstock.block.BlockLayout.TokenOrder;
import io.penstock.block.Plane.ElementType;
import io.penstock.disagg.plan.Parallelism;

/// Parallelism of one side, and form of its cache.
public record SideReport(int tp, int pp, int pcp, int dcp, int blockTokens, TokenOrder order, ElementType type) {
  public static SideReport of(Deployment side) {
    Parallelism ranks = side.parallelism();
    KvFormat format = side.format();
    return new SideReport(ranks.tp(), ranks.pp(), ranks.pcp(), ranks.dcp(), format.blockTokens(), format.order(),
        format.type());
  }

  @Override
  public String toString() {
    return "tp %d, pp %d, pcp %d, dcp %d, blocks of %d tokens, %s, %s".formatted(tp, pp, pcp, dcp, blockTokens, order,
        type);
  }
}
