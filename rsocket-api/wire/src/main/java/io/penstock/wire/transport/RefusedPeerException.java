package io.penstock.wire.transport;

import io.penstock.PermanentKvException;

/// A server ended a connection whose peer exceeded a bound; the peer was told.
public sealed class RefusedPeerException extends PermanentKvException permits FrameLengthException {
  private final Refusal reason;

  RefusedPeerException(Refusal reason, String message) {
    super(message);
    this.reason = reason;
  }

  /// The bound.
  public Refusal reason() {
    return reason;
  }
}
