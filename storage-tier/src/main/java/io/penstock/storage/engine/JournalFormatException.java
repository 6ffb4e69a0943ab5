package io.penstock.storage.engine;

import io.penstock.PermanentKvException;

/// What lies at this place was not written by this engine in a version known here. It is left as it is.
public final class JournalFormatException extends PermanentKvException {
  /// @param name what is wrong, and where
  /// @param rule what it must be
  /// @param value what it was
  public JournalFormatException(String name, String rule, String value) {
    super(name + " must be " + rule + " (was " + value + ")");
  }
}
