package io.penstock.wire.transport;

import io.penstock.PermanentKvException;

/// Received frames piled up before a subscriber that asked for none; the connection was closed.
public final class ReceiveOverrunException extends PermanentKvException {
  private final long bytes;

  ReceiveOverrunException(long bytes, long maxBytes) {
    super("frames received without demand must be <= " + maxBytes + " bytes (was " + bytes + ")");
    this.bytes = bytes;
  }

  /// Bytes that waited.
  public long bytes() {
    return bytes;
  }
}
