package io.penstock.device.ascend.failure;

import io.penstock.PermanentKvException;
import io.penstock.TransientKvException;

/// The errors that AscendCL answers with. [AclCode] tells them apart further.
public sealed interface AscendFailure {
  /// The call and its answer.
  AclError error();

  /// The library, its driver or its device cannot do this.
  final class AscendUnsupportedException extends PermanentKvException implements AscendFailure {
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

  /// The library refused its arguments, or the hardware is broken.
  final class AscendRefusedException extends PermanentKvException implements AscendFailure {
    private final AclError error;

    AscendRefusedException(AclError error) {
      super(error.sentence());
      this.error = error;
    }

    @Override
    public AclError error() {
      return error;
    }
  }

  /// The device had no memory or no time for this, aborted it, or failed in a way that may pass. A part of it may have
  /// been done.
  final class AscendUnavailableException extends TransientKvException implements AscendFailure {
    private final AclError error;

    AscendUnavailableException(AclError error) {
      super(error.sentence());
      this.error = error;
    }

    @Override
    public AclError error() {
      return error;
    }
  }
}
