package io.penstock.tier;

import io.penstock.TransientKvException;

/// A store's line is full: nothing was begun, and nothing is wrong with the blocks.
public class StoreBusyException extends TransientKvException {
  public StoreBusyException(String message) {
    super(message);
  }
}
