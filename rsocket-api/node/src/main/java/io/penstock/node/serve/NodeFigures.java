package io.penstock.node.serve;

import io.penstock.tier.BlockTier;
import io.penstock.tier.ByteBudget;
import io.penstock.tier.TierStat;
import io.penstock.wire.cluster.Member;
import java.util.List;
import java.util.function.Supplier;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/// How full and how busy a node is, for its cluster. It asks the tiers when it is refreshed, and answers at once. Safe
/// from any thread.
final class NodeFigures implements Supplier<Member.Figures> {
  private final Supplier<List<BlockTier>> tiers;
  private final long capacityBytes;
  private final ByteBudget budget;
  private volatile long bytes;

  /// @param tiers of all spaces; there may be more of them later
  /// @param capacityBytes of all spaces together
  NodeFigures(Supplier<List<BlockTier>> tiers, long capacityBytes, ByteBudget budget) {
    this.tiers = tiers;
    this.capacityBytes = capacityBytes;
    this.budget = budget;
  }

  /// Asks the tiers. Cold.
  Mono<Void> refreshed() {
    return Flux.defer(() -> Flux.fromIterable(tiers.get())).concatMap(BlockTier::stat).map(TierStat::bytes)
        .reduce(0L, Long::sum).doOnNext(sum -> bytes = sum).then();
  }

  @Override
  public Member.Figures get() {
    return new Member.Figures(bytes, capacityBytes, budget.inUseBytes());
  }
}
