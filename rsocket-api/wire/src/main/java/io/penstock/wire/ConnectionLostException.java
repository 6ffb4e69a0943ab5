package io.penstock.wire;

import io.penstock.TransientKvException;

/// The connection to the peer is gone, or could not be made; a new connection may serve the same call.
public final class ConnectionLostException extends TransientKvException {
  ConnectionLostException(String peer, Throwable cause) {
    super("connection to " + peer + " is lost: "
        + (cause.getMessage() == null ? cause.getClass().getSimpleName() : cause.getMessage()), cause);
  }
}
