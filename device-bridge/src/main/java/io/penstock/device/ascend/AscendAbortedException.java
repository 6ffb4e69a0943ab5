package io.penstock.device.ascend;

import io.penstock.TransientKvException;

/// What was queued on the device was given up.
final class AscendAbortedException extends TransientKvException implements AscendFailure {
  private final AclError error;

  AscendAbortedException(AclError error) {
    super(error.sentence());
    this.error = error;
  }

  @Override
  public AclError error() {
    return error;
  }
}
