package io.penstock.wire.transport;

import io.penstock.PermanentKvException;

/// More was to be sent than may wait: the peer gave more credit than it reads; the connection was closed.
public final class SendQueueOverrunException extends PermanentKvException {
  private final long bytes;
  private final int frames;

  SendQueueOverrunException(long bytes, long maxBytes, int frames, int maxFrames) {
    super(
        "send queue must be <= " + maxBytes + " bytes and " + maxFrames + " frames (was " + bytes + " bytes, " + frames
            + " frames): the receiver asked for more than it reads");
    this.bytes = bytes;
    this.frames = frames;
  }

  /// Bytes that would have waited.
  public long bytes() {
    return bytes;
  }

  /// Frames that would have waited.
  public int frames() {
    return frames;
  }
}
