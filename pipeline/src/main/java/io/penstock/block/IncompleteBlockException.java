package io.penstock.block;

import io.penstock.TransientKvException;

/// A draft was sealed, or a stream ended, before all granules of a block were verified.
public final class IncompleteBlockException extends TransientKvException {
  private final BlockKey key;
  private final int firstMissing;
  private final int missing;

  public IncompleteBlockException(BlockKey key, int firstMissing, int missing) {
    super("block %s: granules missing must be 0 (was %d, first %d)".formatted(key, missing, firstMissing));
    this.key = key;
    this.firstMissing = firstMissing;
    this.missing = missing;
  }

  public BlockKey key() {
    return key;
  }

  /// The first missing granule.
  public int firstMissing() {
    return firstMissing;
  }

  /// Number of missing granules.
  public int missing() {
    return missing;
  }
}
