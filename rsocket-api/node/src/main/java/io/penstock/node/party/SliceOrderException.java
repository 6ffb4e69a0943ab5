package io.penstock.node.party;

import io.penstock.PermanentKvException;
import io.penstock.block.BlockKey;

/// A slice is not the next one of its block: a slice was repeated, left out or sent without a request.
final class SliceOrderException extends PermanentKvException {
  SliceOrderException(BlockKey key, int expectedOffset, int offset) {
    super("slice of block %s must start at byte %d (was %d)".formatted(key, expectedOffset, offset));
  }
}
