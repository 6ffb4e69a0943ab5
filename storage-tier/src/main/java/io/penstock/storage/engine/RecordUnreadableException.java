package io.penstock.storage.engine;

import io.penstock.TransientKvException;

/// The medium gives other records, and not this one.
public final class RecordUnreadableException extends TransientKvException {
  /// @param cause of the newest attempt
  public RecordUnreadableException(Location record, Throwable cause) {
    super("record must be readable (was not, more than once: " + record + ")", cause);
  }
}
