package io.penstock.device.ascend;

import io.penstock.TransientKvException;

/// The device took longer than allowed; what it was doing may have been done in part.
final class AscendTimeoutException extends TransientKvException implements AscendFailure {
  private final AclError error;

  AscendTimeoutException(AclError error) {
    super(error.sentence() + "; longest time: " + AscendOptions.TRANSFER_TIMEOUT_SETTING);
    this.error = error;
  }

  @Override
  public AclError error() {
    return error;
  }
}
