package io.penstock.storage.engine;

import io.penstock.PermanentKvException;

/// Another engine, another version or something else wrote the files at this place. The engine leaves them as they are.
public final class JournalFormatException extends PermanentKvException {
  /// @param name of what is wrong
  /// @param rule what it must be
  /// @param value what it was
  public JournalFormatException(String name, String rule, String value) {
    super(name + " must be " + rule + " (was " + value + ")");
  }
}
