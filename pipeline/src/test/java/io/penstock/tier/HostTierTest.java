package io.penstock.tier;

import io.penstock.testkit.BlockTierContract;

final class HostTierTest extends BlockTierContract {
  @Override
  protected BlockTier openTier(int capacityBlocks) {
    return new HostTier(space,
        HostTierOptions.defaults(capacityBlocks).withReserveBlocks(RESERVE_BLOCKS).withEventLogSize(EVENT_LOG_SIZE),
        TierListener.noop());
  }
}
