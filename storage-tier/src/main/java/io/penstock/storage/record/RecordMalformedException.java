package io.penstock.storage.record;

/// A field of a record has a value that it cannot have: damage, or something else than a record.
public final class RecordMalformedException extends RecordException {
  RecordMalformedException(String field, String rule, String value) {
    super(field, rule, value);
  }

  RecordMalformedException(String field, String rule, long value) {
    super(field, rule, Long.toString(value));
  }
}
