package io.penstock.examples.pipe;

import io.penstock.PermanentKvException;

/// The received bytes are no chunk of a pipe, or none that fits this one.
public final class PipeFormatException extends PermanentKvException {
  PipeFormatException(String message) {
    super(message);
  }
}
