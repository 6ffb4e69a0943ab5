package io.penstock.storage.record;

import io.penstock.PermanentKvException;

/// A whole record of a version that is not known here: a newer release wrote it.
public final class RecordVersionException extends PermanentKvException {
  private final int version;

  RecordVersionException(int version) {
    super("version of record must be " + RecordFormat.VERSION + " (was " + version + ")");
    this.version = version;
  }

  public int version() {
    return version;
  }
}
