package io.penstock.examples.pipe;

import io.penstock.PermanentKvException;

/// The source of the tensors failed on the sending end.
public final class PipeFailedException extends PermanentKvException {
  private final String failure;

  PipeFailedException(String failure) {
    super("sending end failed: " + failure);
    this.failure = failure;
  }

  /// Message of the sending end.
  public String failure() {
    return failure;
  }
}
