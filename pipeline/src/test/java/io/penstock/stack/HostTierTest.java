package io.penstock.stack;

import io.penstock.stack.shape.StackOptions;
import io.penstock.testkit.BlockTierContract;
import io.penstock.testkit.TierHoldsContract;
import io.penstock.tier.BlockTier;
import io.penstock.tier.TierListener;

final class HostTierTest extends BlockTierContract implements TierHoldsContract {
  @Override
  protected BlockTier openTier(int capacityBlocks) {
    return new HostTier(space,
        capacityBlocks,
        StackOptions.defaults("dram").withIngressBlocks(RESERVE_BLOCKS).withEventLogSize(EVENT_LOG_SIZE),
        TierListener.noop());
  }
}
