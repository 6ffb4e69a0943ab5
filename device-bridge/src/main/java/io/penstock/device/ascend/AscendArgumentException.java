package io.penstock.device.ascend;

import io.penstock.PermanentKvException;

/// The library refused what it was given: sizes, kinds, locations or flags.
final class AscendArgumentException extends PermanentKvException implements AscendFailure {
  private final AclError error;

  AscendArgumentException(AclError error) {
    super(error.sentence());
    this.error = error;
  }

  @Override
  public AclError error() {
    return error;
  }
}
