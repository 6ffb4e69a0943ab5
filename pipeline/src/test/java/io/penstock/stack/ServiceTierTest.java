package io.penstock.stack;

import io.penstock.stack.shape.StackOptions;
import io.penstock.testkit.BlockTierContract;
import io.penstock.testkit.TierPromise;
import io.penstock.tier.BlockTier;
import io.penstock.tier.TierListener;

/// A tier whose decisions are not exact keeps the rest of the contract.
final class ServiceTierTest extends BlockTierContract {
  @Override
  protected BlockTier openTier(int capacityBlocks) {
    return new HostTier(space, capacityBlocks, StackOptions.defaults("dram").withIngressBlocks(RESERVE_BLOCKS)
        .withEventLogSize(EVENT_LOG_SIZE).withExact(false), TierListener.noop());
  }

  @Override
  protected boolean promises(TierPromise promise) {
    return promise != TierPromise.EXACT_LRU && promise != TierPromise.HOLDS_WHAT_IT_FOUND && super.promises(promise);
  }
}
