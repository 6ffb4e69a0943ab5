package io.penstock.device.sidecar.link;

import io.penstock.device.sidecar.SideCarCode;
import io.penstock.device.sidecar.link.FrameCodec.MalformedFrameException;
import io.penstock.device.sidecar.link.Link.Frame;
import java.nio.ByteBuffer;
import java.util.function.Consumer;

/// Cuts a stream of bytes into frames. Holds one frame at most, and only room for what has come.
public final class FrameReader {
  private static final int FIRST_ROOM = 4096;

  private ByteBuffer kept = ByteBuffer.allocate(FIRST_ROOM);

  /// Buffer for the next bytes; at least one fits.
  public ByteBuffer room() {
    if (!kept.hasRemaining()) {
      kept = ByteBuffer.allocate(Math.min(2 * kept.capacity(), FrameCodec.LENGTH_BYTES + FrameCodec.MAX_BYTES))
          .put(kept.flip());
    }
    return kept;
  }

  /// Passes all complete frames to `frames`.
  public void read(Consumer<Frame> frames) throws MalformedFrameException {
    kept.flip();
    while (kept.remaining() >= FrameCodec.LENGTH_BYTES) {
      int length = kept.getInt(kept.position());
      if (length < FrameCodec.HEADER_BYTES || length > FrameCodec.MAX_BYTES) {
        throw new MalformedFrameException(SideCarCode.MALFORMED, 0,
            "a frame of " + Integer.toUnsignedString(length) + " bytes");
      }
      if (kept.remaining() < FrameCodec.LENGTH_BYTES + length) {
        break;
      }
      int begin = kept.position() + FrameCodec.LENGTH_BYTES;
      frames.accept(FrameCodec.decode(kept.slice(begin, length)));
      kept.position(begin + length);
    }
    kept.compact();
  }

  /// Whether a frame has begun and not ended.
  boolean isInFrame() {
    return kept.position() > 0;
  }
}
