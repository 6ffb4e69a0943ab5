package io.penstock.lab.bench.side;

import io.penstock.block.BlockKey;

/// Bytes that came differ from those that were made, and no checksum told.
public final class WrongBytesException extends RuntimeException {
  WrongBytesException(BlockKey key) {
    this("bytes of block " + key.hash());
  }

  /// @param what is wrong
  WrongBytesException(String what) {
    super(what + " must be as it was made (was not)");
  }
}
