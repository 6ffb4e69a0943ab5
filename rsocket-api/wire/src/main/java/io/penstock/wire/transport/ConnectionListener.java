package io.penstock.wire.transport;

import org.jspecify.annotations.Nullable;

/// Told when connections come and go; called on the connection's event loop, so it must not block.
public interface ConnectionListener {
  /// A connection is up.
  default void opened(ConnectionGauges connection) {}

  /// It is gone.
  ///
  /// @param cause what ended it, or null when one of the two sides closed it in order
  default void closed(ConnectionGauges connection, @Nullable Throwable cause) {}

  /// Hears nothing.
  static ConnectionListener noop() {
    return new ConnectionListener() {};
  }
}
