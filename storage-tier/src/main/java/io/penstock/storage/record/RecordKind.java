package io.penstock.storage.record;

/// What a record says.
public enum RecordKind {
  /// Here are the bytes of a block.
  BLOCK(1),
  /// An earlier record, named by its sequence, counts no more.
  REMOVAL(2);

  private final int code;

  RecordKind(int code) {
    this.code = code;
  }

  int code() {
    return code;
  }
}
