package io.penstock.stack.decision;

import io.penstock.block.BlockKey;

/// What the ledger of a `TierStack` keeps of a key: a visible block, or one that is being written.
public sealed interface StackEntry permits Resident, Pending {
  BlockKey key();
}
