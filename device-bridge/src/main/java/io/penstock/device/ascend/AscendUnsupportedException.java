package io.penstock.device.ascend;

import io.penstock.PermanentKvException;

/// The library, its driver or its device cannot do this.
public final class AscendUnsupportedException extends PermanentKvException implements AscendFailure {
  private final AclError error;

  AscendUnsupportedException(AclError error) {
    super(error.sentence());
    this.error = error;
  }

  @Override
  public AclError error() {
    return error;
  }
}
