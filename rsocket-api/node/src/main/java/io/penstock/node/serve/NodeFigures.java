package io.penstock.node.serve;

import io.penstock.node.tiers.TimeOfDay;
import io.penstock.tier.BlockTier;
import io.penstock.tier.ByteBudget;
import io.penstock.tier.TierStat;
import io.penstock.wire.cluster.Member;
import java.util.List;
import java.util.concurrent.TimeUnit;
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
  private volatile long idleMillis;

  /// @param tiers of all spaces; there may be more of them later
  /// @param capacityBytes of all spaces together
  NodeFigures(Supplier<List<BlockTier>> tiers, long capacityBytes, ByteBudget budget) {
    this.tiers = tiers;
    this.capacityBytes = capacityBytes;
    this.budget = budget;
  }

  /// Asks the tiers. Cold.
  Mono<Void> refreshed() {
    return Flux.defer(() -> Flux.fromIterable(tiers.get())).concatMap(BlockTier::stat).collectList().doOnNext(stats -> {
      bytes = stats.stream().mapToLong(TierStat::bytes).sum();
      idleMillis = idle(stats);
    }).then();
  }

  /// Of the tier that has used the block that leaves it next the longest ago.
  private static long idle(List<TierStat> stats) {
    long oldest = stats.stream().mapToLong(TierStat::oldestUseMicros).filter(micros -> micros > 0).min().orElse(0);
    return oldest == 0
        ? 0
        : Math.max(0, TimeUnit.MICROSECONDS.toMillis(TimeOfDay.ofProcess().getAsLong() - oldest));
  }

  @Override
  public Member.Figures get() {
    return new Member.Figures(bytes, capacityBytes, budget.inUseBytes(), idleMillis);
  }
}
