package io.penstock.device.ascend;

import io.penstock.PermanentKvException;

/// A library was found that is not the one that was expected: a function that nothing works without is missing, or a
/// struct of it has another shape.
public final class LibraryMismatchException extends PermanentKvException {
  LibraryMismatchException(String message) {
    super(message);
  }

  LibraryMismatchException(String message, Throwable cause) {
    super(message, cause);
  }
}
