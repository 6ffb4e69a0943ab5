package io.penstock.node.party;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.penstock.tier.TierStat;
import org.jspecify.annotations.Nullable;

/// Fill of a tier.
///
/// @param blocks blocks that the ledger assigns to it
/// @param storedBlocks blocks whose bytes are there: the ledger may be ahead; a disk keeps copies of promoted blocks
/// @param capacityBlocks maximum number of blocks; absent if unbounded
@JsonInclude(JsonInclude.Include.NON_NULL)
public record TierFill(long blocks, long storedBlocks, @Nullable Long capacityBlocks) {
  static TierFill of(TierStat.Level level) {
    return new TierFill(level.blocks(), level.storedBlocks(),
        level.capacityBlocks() == Long.MAX_VALUE ? null : level.capacityBlocks());
  }
}
