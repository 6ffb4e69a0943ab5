package io.penstock.wire.transport.frame;

import java.nio.ByteBuffer;

/// Memory of a stream for the last bytes of one frame, which are read from the socket straight into it.
///
/// Used by the event loop alone. Its owner may give the memory up meanwhile: it stays valid until [#close].
public interface FrameBody {
  /// Memory for the next bytes, as far as it lies together; not empty while bytes are missing.
  ByteBuffer next();

  /// So many bytes came into the memory that [#next] gave last.
  void filled(int bytes);

  /// All bytes have come, or no more do. Idempotent.
  void close();
}
