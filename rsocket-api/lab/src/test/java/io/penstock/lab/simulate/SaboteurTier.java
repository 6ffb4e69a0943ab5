package io.penstock.lab.simulate;

import io.penstock.tier.BlockTier;
import io.penstock.tier.spi.ForwardingTier;

/// A tier that does as another does; a bug is planted by overriding one method.
class SaboteurTier extends ForwardingTier {
  final BlockTier tier;

  SaboteurTier(BlockTier tier) {
    super(tier);
    this.tier = tier;
  }
}
