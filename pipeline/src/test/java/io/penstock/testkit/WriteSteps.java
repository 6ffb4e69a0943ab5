package io.penstock.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.tier.BlockTier;
import io.penstock.tier.Lease;
import io.penstock.tier.LeasedBlock;
import io.penstock.tier.OnMiss;
import io.penstock.tier.Presence;
import io.penstock.tier.Reservation;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/// What the parts of [BlockTierContract] do with a tier that is written to.
interface WriteSteps extends TierSteps {
  @Override
  BlockTierContract contract();

  /// Opens an empty tier that is closed, and must be idle then, after the test.
  default BlockTier tier(int capacityBlocks) {
    return contract().opened(capacityBlocks);
  }

  /// Writes and commits those of `keys` that the tier wants.
  default void put(BlockTier tier, List<BlockKey> keys) {
    try (BlockScope scope = new BlockScope()) {
      commitAll(value(tier.reserve(keys, scope)));
    }
  }

  default void commitAll(Reservation reservation) {
    reservation.drafts().forEach(Blocks::produce);
    value(reservation.commit(reservation.drafts()));
  }

  default Presence admitAndPut(BlockTier tier, List<BlockKey> keys) {
    try (BlockScope scope = new BlockScope()) {
      Lease lease = value(tier.lease(keys, OnMiss.ADMIT, scope));
      CompletableFuture<List<LeasedBlock>> blocks = reading(lease, 2, scope);
      List<BlockKey> missing = lease.admitted().bits().stream().mapToObj(keys::get).toList();
      commitAll(value(tier.reserve(missing, scope)));
      assertThat(got(blocks)).hasSize(keys.size());
      return lease.hits();
    }
  }
}
