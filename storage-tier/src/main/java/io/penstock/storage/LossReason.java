package io.penstock.storage;

import io.penstock.KvException;
import io.penstock.block.BlockKey;

/// Why the record of a block is no more.
@FunctionalInterface
interface LossReason {
  /// What whoever wants the block hears.
  KvException of(BlockKey key);
}
