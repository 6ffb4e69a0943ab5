package io.penstock.node.bench;

import io.penstock.block.BlockKey;

/// Bytes that came differ from those that were made, and no checksum told.
final class WrongBytesException extends RuntimeException {
  WrongBytesException(BlockKey key) {
    super("bytes of block " + key.hash() + " must be those that were made (were others)");
  }
}
