package io.penstock.lab.bench.side;

import io.penstock.block.BlockKey;

/// Received bytes differ from the generated ones, and no checksum reported it.
public final class WrongBytesException extends RuntimeException {
  public WrongBytesException(BlockKey key) {
    this("bytes of block " + key.hash());
  }

  /// @param what description of the difference
  public WrongBytesException(String what) {
    super(what + " differ from the bytes that were made");
  }
}
