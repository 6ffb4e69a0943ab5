package io.penstock;

import org.jspecify.annotations.Nullable;

/// A failure that may pass: the same call, unchanged, can succeed later.
public non-sealed class TransientKvException extends KvException {
  public TransientKvException(String message) {
    super(message, null);
  }

  public TransientKvException(String message, @Nullable Throwable cause) {
    super(message, cause);
  }
}
