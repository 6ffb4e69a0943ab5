package io.penstock.storage.record;

import static java.util.Objects.requireNonNull;

import io.penstock.block.BlockKey;
import io.penstock.check.Checks;

/// What a removal calls the record of a block by.
///
/// @param key of the block
/// @param sequence of the record
public record RecordName(BlockKey key, long sequence) {
  public RecordName {
    requireNonNull(key, "key");
    Checks.positive("sequence", sequence);
  }
}
