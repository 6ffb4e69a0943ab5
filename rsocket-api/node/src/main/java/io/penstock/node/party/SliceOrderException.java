package io.penstock.node.party;

import io.penstock.PermanentKvException;
import io.penstock.block.BlockKey;

/// A slice came that is not the next one of its block: something was repeated, left out or sent unasked.
final class SliceOrderException extends PermanentKvException {
  SliceOrderException(BlockKey key, int expectedOffset, int offset) {
    super("slice of block %s must start at byte %d (was %d)".formatted(key, expectedOffset, offset));
  }
}
