package io.penstock.device.memory;

import io.penstock.PermanentKvException;

/// A staging buffer was wanted of a pool that is closed.
public final class StagingClosedException extends PermanentKvException {
  StagingClosedException(String pool) {
    super(pool + ": staging pool must be open (was closed)");
  }
}
