package io.penstock.flow;

import io.penstock.block.BlockScope;
import io.penstock.block.SlabArena;
import io.penstock.block.SliceShape;
import io.penstock.stack.HostTier;
import io.penstock.stack.shape.StackOptions;
import io.penstock.stage.Store;
import io.penstock.testkit.Blocks;
import io.penstock.testkit.LeakLedger;
import io.penstock.testkit.StageFixtures;
import io.penstock.tier.TierListener;
import java.time.Duration;
import java.util.List;
import reactor.core.publisher.Flux;

/// A tier in memory whose slots beyond its blocks count as leaks.
final class FilledTier {
  static final SliceShape SHAPE = StageFixtures.split(256, SliceShape.Order.LAYER_FIRST);
  private static final Duration LIMIT = Duration.ofSeconds(10);

  private FilledTier() {}

  /// A tier for 64 blocks that has those of `numbers`.
  static HostTier of(LeakLedger leaks, SlabArena arena, List<Integer> numbers) {
    HostTier tier =
        new HostTier(StageFixtures.SPACE, 64, StackOptions.defaults("dram").withIngressBlocks(8), TierListener.noop());
    leaks.watch("slots of the tier beyond its blocks",
        () -> tier.arena().claimedSlots() == 0 ? 0 : tier.arena().claimedSlots() - visible(tier));
    Flux.using(BlockScope::new, scope -> Flux.fromIterable(numbers)
        .map(number -> scope.adopt(Blocks.block(arena, StageFixtures.key(number)))).buffer(8)
        .transform(Store.into(tier, SHAPE)), BlockScope::close).blockLast(LIMIT);
    return tier;
  }

  private static long visible(HostTier tier) {
    return tier.stat().block(LIMIT).blocks();
  }
}
