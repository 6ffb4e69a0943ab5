package io.penstock.storage;

import io.penstock.KvException;
import io.penstock.block.BlockKey;

/// Why the record of a block is no more.
@FunctionalInterface
interface LossReason {
  /// The failure of a read of the block.
  KvException of(BlockKey key);
}
