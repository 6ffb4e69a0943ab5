package io.penstock.stage;

import io.penstock.PermanentKvException;
import io.penstock.block.BlockKey;

/// A slice came that belongs to nothing that was asked for: another window, another key, or another layout.
public final class UnexpectedSliceException extends PermanentKvException {
  private final BlockKey key;
  private final int window;

  public UnexpectedSliceException(BlockKey key, int window, String rule) {
    super("slice of block %s in window %d: %s".formatted(key, window, rule));
    this.key = key;
    this.window = window;
  }

  public BlockKey key() {
    return key;
  }

  /// Number of the window that the slice claimed to belong to.
  public int window() {
    return window;
  }
}
