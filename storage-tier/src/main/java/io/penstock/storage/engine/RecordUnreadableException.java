package io.penstock.storage.engine;

import static java.util.Objects.requireNonNull;

import io.penstock.TransientKvException;

/// The medium does not give this record, though it gives others.
public final class RecordUnreadableException extends TransientKvException {
  private final Location record;

  /// @param cause of the newest failure
  public RecordUnreadableException(Location record, Throwable cause) {
    super("record must be readable (was not, more than once: " + record + ")", cause);
    this.record = requireNonNull(record, "record");
  }

  public Location record() {
    return record;
  }
}
