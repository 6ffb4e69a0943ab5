package io.penstock.examples.pipe;

import io.penstock.PermanentKvException;

/// What came is no chunk of a pipe, or none that fits this one.
public final class PipeFormatException extends PermanentKvException {
  PipeFormatException(String message) {
    super(message);
  }
}
