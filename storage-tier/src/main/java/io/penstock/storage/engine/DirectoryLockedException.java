package io.penstock.storage.engine;

import io.penstock.TransientKvException;

/// Another process has the journal open. Transient: that process may close it.
public final class DirectoryLockedException extends TransientKvException {
  private final String holder;

  DirectoryLockedException(String place, String holder) {
    super("journal " + place + " must be opened by one process at a time (was open in process " + holder + ")");
    this.holder = holder;
  }

  /// Its process id, or `unknown`.
  public String holder() {
    return holder;
  }
}
