package io.penstock.device.ascend;

import io.penstock.TransientKvException;

/// The library failed for a reason of its own, or with a code that is not known.
final class AscendInternalException extends TransientKvException implements AscendFailure {
  private final AclError error;

  AscendInternalException(AclError error) {
    super(error.sentence());
    this.error = error;
  }

  @Override
  public AclError error() {
    return error;
  }
}
