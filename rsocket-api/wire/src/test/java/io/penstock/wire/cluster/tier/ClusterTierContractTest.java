package io.penstock.wire.cluster.tier;

import static java.util.Objects.requireNonNull;

import io.penstock.block.BlockKey;
import io.penstock.stack.shape.StackOptions;
import io.penstock.testkit.BlockTierContract;
import io.penstock.testkit.TierHoldsContract;
import io.penstock.testkit.TierPromise;
import io.penstock.tier.BlockTier;
import io.penstock.tier.Medium;
import io.penstock.tier.TierInfo;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import reactor.core.scheduler.Schedulers;

/// Three nodes keep the contract of a tier together.
final class ClusterTierContractTest extends BlockTierContract implements TierHoldsContract {
  private static final List<String> NAMES = List.of("a", "b", "c");

  private final Map<BlockTier, ClusterOfTiers> behind = new HashMap<>();

  @Override
  protected BlockTier openTier(int capacityBlocks) {
    ClusterOfTiers nodes = new ClusterOfTiers(space);
    NAMES.forEach(name -> nodes.add(name, capacityBlocks,
        StackOptions.defaults("dram").withIngressBlocks(RESERVE_BLOCKS).withEventLogSize(EVENT_LOG_SIZE)));
    ClusterTier tier = new ClusterTier(new TierInfo("test", Medium.REMOTE, space, capacityBlocks), nodes, "",
        new SplittableRandom(1), Schedulers.single(), Schedulers.parallel());
    behind.put(tier, nodes);
    return tier;
  }

  @Override
  protected void corruptStored(BlockTier tier, BlockKey key) {
    ClusterOfTiers nodes = requireNonNull(behind.get(tier));
    NAMES.stream().map(nodes::node).filter(node -> !node.of(List.of(key)).isEmpty())
        .forEach(node -> super.corruptStored(node.tier, key));
  }

  /// Each node decides for itself, and the cluster keeps no log.
  @Override
  protected boolean promises(TierPromise promise) {
    return promise == TierPromise.CLAIMED_IS_VISIBLE;
  }

  /// The directory does not know keys that are being written.
  @Override
  protected boolean reservesAtOnce() {
    return false;
  }

  @Override
  protected String receiptTier(BlockTier tier) {
    return "dram";
  }

  @Override
  protected int cancelledRuns() {
    return 500;
  }

  @Override
  protected int stressRounds() {
    return 200;
  }
}
