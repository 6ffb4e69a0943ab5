package io.penstock.device.ascend;

import io.penstock.PermanentKvException;

/// There is no device of that number.
final class AscendDeviceIdException extends PermanentKvException implements AscendFailure {
  private final AclError error;

  AscendDeviceIdException(AclError error) {
    super(error.sentence());
    this.error = error;
  }

  @Override
  public AclError error() {
    return error;
  }
}
