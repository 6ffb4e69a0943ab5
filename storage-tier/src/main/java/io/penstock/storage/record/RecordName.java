package io.penstock.storage.record;

import static java.util.Objects.requireNonNull;

import io.penstock.block.BlockKey;
import io.penstock.check.Checks;

/// The name of a block's record in a removal.
///
/// @param key of the block
/// @param sequence of the record
public record RecordName(BlockKey key, long sequence) {
  public RecordName {
    requireNonNull(key, "key");
    Checks.positive("sequence", sequence);
  }
}
