package io.penstock.device.ascend.failure;

import io.penstock.PermanentKvException;

/// A library was found that is not the one that was expected: a function that nothing works without is missing, or a
/// struct of it has another shape.
public final class LibraryMismatchException extends PermanentKvException {
  public LibraryMismatchException(String message) {
    super(message);
  }

  LibraryMismatchException(String message, Throwable cause) {
    super(message, cause);
  }
}
