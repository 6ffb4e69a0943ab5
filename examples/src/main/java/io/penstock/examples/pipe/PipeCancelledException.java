package io.penstock.examples.pipe;

import io.penstock.PermanentKvException;

/// The receiving end wanted no more.
public final class PipeCancelledException extends PermanentKvException {
  PipeCancelledException() {
    super("pipe was cancelled by its receiving end");
  }
}
