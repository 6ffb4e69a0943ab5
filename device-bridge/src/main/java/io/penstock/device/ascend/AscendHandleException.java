package io.penstock.device.ascend;

import io.penstock.PermanentKvException;

/// A context or a stream is not there, or not of this thread.
final class AscendHandleException extends PermanentKvException implements AscendFailure {
  private final AclError error;

  AscendHandleException(AclError error) {
    super(error.sentence());
    this.error = error;
  }

  @Override
  public AclError error() {
    return error;
  }
}
