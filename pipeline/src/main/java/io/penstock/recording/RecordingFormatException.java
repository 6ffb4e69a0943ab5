package io.penstock.recording;

import io.penstock.PermanentKvException;

/// The bytes of a recording break a rule of its format.
public final class RecordingFormatException extends PermanentKvException {
  private final String field;

  /// @param field that breaks a rule
  /// @param rule that it breaks
  /// @param actual its value
  public RecordingFormatException(String field, String rule, Object actual) {
    super("recording: %s must be %s (was %s)".formatted(field, rule, actual));
    this.field = field;
  }

  public String field() {
    return field;
  }
}
