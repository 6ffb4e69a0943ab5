package io.penstock.device.ascend;

import io.penstock.TransientKvException;

/// The device, or the host, has no more memory of the kind that was asked for.
final class AscendMemoryException extends TransientKvException implements AscendFailure {
  private final AclError error;

  AscendMemoryException(AclError error) {
    super(error.sentence());
    this.error = error;
  }

  @Override
  public AclError error() {
    return error;
  }
}
