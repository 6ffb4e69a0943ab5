package io.penstock.carrier;

import io.penstock.TransientKvException;
import org.jspecify.annotations.Nullable;

/// Memory of another process of this host cannot be read, or no longer. The request can succeed with the bytes in the
/// frames of its connection.
public sealed class PeerMemoryException extends TransientKvException permits RingFormatException {
  public PeerMemoryException(String message, @Nullable Throwable cause) {
    super(message, cause);
  }
}
