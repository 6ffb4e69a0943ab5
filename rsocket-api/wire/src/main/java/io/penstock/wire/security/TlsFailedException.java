package io.penstock.wire.security;

import io.penstock.PermanentKvException;

/// No TLS came about between a client and its node: the node has none, or one side does not trust the other.
public final class TlsFailedException extends PermanentKvException {
  /// @param cause what the handshake failed of
  public TlsFailedException(String message, Throwable cause) {
    super(message, cause);
  }
}
