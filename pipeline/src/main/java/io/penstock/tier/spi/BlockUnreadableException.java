package io.penstock.tier.spi;

import static java.util.Objects.requireNonNull;

import io.penstock.TransientKvException;
import io.penstock.block.BlockKey;

/// A store fails to give a block, although it gives other blocks. Transient for the reader: the block is a miss from
/// now on.
public final class BlockUnreadableException extends TransientKvException {
  private final BlockKey key;

  /// @param boundary where the block was read
  public BlockUnreadableException(String boundary, BlockKey key, Throwable cause) {
    super("block " + key + " must be readable at " + boundary + " (was not, more than once)", cause);
    this.key = requireNonNull(key, "key");
  }

  public BlockKey key() {
    return key;
  }
}
