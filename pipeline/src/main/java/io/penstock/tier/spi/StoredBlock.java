package io.penstock.tier.spi;

import static java.util.Objects.requireNonNull;

import io.penstock.block.BlockKey;
import io.penstock.block.Owned;

/// One owner's handle on a block in a [BlockStore]. Closing frees its room there.
public abstract class StoredBlock extends Owned {
  private final BlockKey key;

  /// @param key of the block
  protected StoredBlock(BlockKey key) {
    this.key = requireNonNull(key, "key");
  }

  public final BlockKey key() {
    return key;
  }
}
