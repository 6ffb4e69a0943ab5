package io.penstock.storage;

import io.penstock.TransientKvException;

/// As much work waits for the disk as may wait. Transient: some of it ends.
public final class JournalBusyException extends TransientKvException {
  private final int most;

  JournalBusyException(String line, int most) {
    super(line + " waiting must be <= " + most + " (was " + most + ", and one more came)");
    this.most = most;
  }

  /// Most that may wait.
  public int most() {
    return most;
  }
}
