package io.penstock.tier;

import io.penstock.block.BlockKey;

/// What the ledger of a [TierStack] keeps of a key: a visible block, or one that is being written.
sealed interface StackEntry permits Resident, Pending {
  BlockKey key();
}
