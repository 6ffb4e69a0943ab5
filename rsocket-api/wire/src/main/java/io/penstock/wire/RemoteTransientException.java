package io.penstock.wire;

import io.penstock.TransientKvException;

/// The peer reported a failure that may pass.
public final class RemoteTransientException extends TransientKvException {
  private final int code;

  RemoteTransientException(int code, String message) {
    super(message);
    this.code = code;
  }

  /// The numeric code of the ERROR frame, see [ErrorCode].
  public int code() {
    return code;
  }
}
