package io.penstock.wire.transport;

import io.netty.buffer.ByteBuf;
import org.jspecify.annotations.Nullable;

/// Receives opened and closed connections; called on the connection's event loop, so it must not block.
public interface ConnectionListener {
  /// A connection is up.
  default void opened(ConnectionGauges connection) {}

  /// The connection is gone.
  ///
  /// @param cause reason of the end, or null when one of the two sides closed it in order
  default void closed(ConnectionGauges connection, @Nullable Throwable cause) {}

  /// Asked once for each connection, before [#opened].
  ///
  /// @return sees each frame of the connection; null for none, which costs nothing
  default @Nullable FrameListener frames(ConnectionGauges connection) {
    return null;
  }

  /// Sees the frames of one connection in the order in which they travel. Called on its event loop; it reads and keeps
  /// nothing of a frame, and leaves its indexes alone.
  interface FrameListener {
    /// A frame is handed to the socket.
    void sent(ByteBuf frame);

    /// A frame arrived.
    void received(ByteBuf frame);
  }

  /// A listener that ignores all events.
  static ConnectionListener noop() {
    return new ConnectionListener() {};
  }
}
