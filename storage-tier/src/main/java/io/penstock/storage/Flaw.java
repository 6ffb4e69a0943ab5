package io.penstock.storage;

import io.penstock.block.BlockCorruptException;
import io.penstock.block.BlockKey;

/// What is wrong with the record of a block: as in [BlockCorruptException], but for whose it is.
record Flaw(String boundary, int granule, int expected, int actual) implements Loss {
  @Override
  public BlockCorruptException of(BlockKey key) {
    return new BlockCorruptException(boundary, key, granule, expected, actual);
  }
}
