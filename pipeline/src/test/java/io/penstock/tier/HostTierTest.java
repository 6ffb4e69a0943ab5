package io.penstock.tier;

import io.penstock.testkit.BlockTierContract;

final class HostTierTest extends BlockTierContract {
  @Override
  protected BlockTier openTier(int capacityBlocks) {
    return new HostTier(space,
        capacityBlocks,
        StackOptions.defaults("dram").withIngressBlocks(RESERVE_BLOCKS).withEventLogSize(EVENT_LOG_SIZE),
        TierListener.noop());
  }
}
