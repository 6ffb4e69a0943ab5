package io.penstock;

import org.jspecify.annotations.Nullable;

/// A failure that stays: the same call, unchanged, fails again.
public non-sealed class PermanentKvException extends KvException {
  public PermanentKvException(String message) {
    super(message, null);
  }

  public PermanentKvException(String message, @Nullable Throwable cause) {
    super(message, cause);
  }
}
