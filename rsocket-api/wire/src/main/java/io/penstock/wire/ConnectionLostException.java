package io.penstock.wire;

import io.penstock.TransientKvException;
import java.net.ConnectException;

/// The connection to the peer is gone, or could not be made; a new connection may serve the same call.
public final class ConnectionLostException extends TransientKvException {
  ConnectionLostException(String peer, Throwable cause) {
    super(words(peer, cause), behind(cause));
  }

  private static String words(String peer, Throwable cause) {
    String reason = cause.getMessage() == null ? cause.getClass().getSimpleName() : cause.getMessage();
    return cause instanceof ConnectException ? reason : "connection to " + peer + " is lost: " + reason;
  }

  /// The system's own reason why no connection could be made.
  private static Throwable behind(Throwable cause) {
    return cause instanceof ConnectException && cause.getCause() != null ? cause.getCause() : cause;
  }
}
