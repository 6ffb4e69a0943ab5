package io.penstock.wire;

import io.penstock.PermanentKvException;

/// The peer reported a failure that stays.
public final class RemotePermanentException extends PermanentKvException {
  private final int code;

  RemotePermanentException(int code, String message) {
    super(message);
    this.code = code;
  }

  /// The numeric code of the ERROR frame, see [ErrorCode].
  public int code() {
    return code;
  }
}
