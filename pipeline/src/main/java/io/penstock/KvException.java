package io.penstock;

import org.jspecify.annotations.Nullable;

/// Any error that Penstock reports after a subscription. Its type answers one question: is a retry worthwhile?
///
/// Mistakes in arguments are JDK exceptions, thrown at call time. Subclasses live beside the concept that throws them
/// and carry data, not only text.
public abstract sealed class KvException extends RuntimeException permits TransientKvException, PermanentKvException {
  KvException(String message, @Nullable Throwable cause) {
    super(message, cause);
  }
}
