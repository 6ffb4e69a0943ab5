package io.penstock.wire.security;

import io.penstock.PermanentKvException;

/// TLS failed between a client and its node: the node has none, or one side does not trust the other.
public final class TlsFailedException extends PermanentKvException {
  /// @param cause failure of the handshake
  public TlsFailedException(String message, Throwable cause) {
    super(message, cause);
  }
}
