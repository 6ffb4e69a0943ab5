package io.penstock.storage.record;

/// The kind of a record.
public enum RecordKind {
  /// The bytes of a block.
  BLOCK(1),
  /// Names of earlier records that are dead.
  REMOVAL(2);

  private final int code;

  RecordKind(int code) {
    this.code = code;
  }

  int code() {
    return code;
  }
}
