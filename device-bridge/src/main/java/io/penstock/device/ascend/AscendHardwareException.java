package io.penstock.device.ascend;

import io.penstock.PermanentKvException;

/// Memory, link or connection of the device is broken.
final class AscendHardwareException extends PermanentKvException implements AscendFailure {
  private final AclError error;

  AscendHardwareException(AclError error) {
    super(error.sentence());
    this.error = error;
  }

  @Override
  public AclError error() {
    return error;
  }
}
