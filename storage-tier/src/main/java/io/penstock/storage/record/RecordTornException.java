package io.penstock.storage.record;

/// A record was begun and not finished: its commit mark is not there.
public final class RecordTornException extends RecordException {
  RecordTornException(String field, String rule, String value) {
    super(field, rule, value);
  }
}
