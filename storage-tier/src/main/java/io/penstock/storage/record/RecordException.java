package io.penstock.storage.record;

import io.penstock.PermanentKvException;

/// These bytes are no record that can be read here. Its message names what is wrong, what it must be, and what it was.
public abstract sealed class RecordException extends PermanentKvException
    permits RecordMalformedException, RecordTornException, RecordVersionException {
  private final String field;

  RecordException(String field, String rule, String value) {
    super(field + " of record must be " + rule + " (was " + value + ")");
    this.field = field;
  }

  /// The field that breaks its rule, as `FORMAT.md` names it.
  public final String field() {
    return field;
  }
}
