package io.penstock;

import org.jspecify.annotations.Nullable;

/// Anything that Penstock reports after a subscription; answers one question: is a retry worthwhile?
///
/// Argument mistakes are not among them: those are JDK exceptions, thrown at call time. Leaves live beside the concept
/// that throws them and carry data, not only text.
public abstract sealed class KvException extends RuntimeException permits TransientKvException, PermanentKvException {
  KvException(String message, @Nullable Throwable cause) {
    super(message, cause);
  }
}
