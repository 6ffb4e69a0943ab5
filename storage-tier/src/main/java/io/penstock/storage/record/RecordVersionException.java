package io.penstock.storage.record;

/// A good record of a version that is not known here: a newer release wrote it.
public final class RecordVersionException extends RecordException {
  private final int version;

  RecordVersionException(int version) {
    super("version", Integer.toString(RecordFormat.VERSION), Integer.toString(version));
    this.version = version;
  }

  public int version() {
    return version;
  }
}
