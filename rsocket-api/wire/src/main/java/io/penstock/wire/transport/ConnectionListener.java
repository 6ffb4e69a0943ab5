package io.penstock.wire.transport;

import org.jspecify.annotations.Nullable;

/// Receives opened and closed connections; called on the connection's event loop, so it must not block.
public interface ConnectionListener {
  /// A connection is up.
  default void opened(ConnectionGauges connection) {}

  /// The connection is gone.
  ///
  /// @param cause reason of the end, or null when one of the two sides closed it in order
  default void closed(ConnectionGauges connection, @Nullable Throwable cause) {}

  /// A listener that ignores all events.
  static ConnectionListener noop() {
    return new ConnectionListener() {};
  }
}
