package io.penstock.wire.transport;

/// The peer announced a frame that is too short to be one or longer than agreed; the connection was closed.
public final class FrameLengthException extends RefusedPeerException {
  private final int length;
  private final int maxFrameBytes;

  public FrameLengthException(int length, int maxFrameBytes) {
    super(Refusal.FRAME_LENGTH,
        "frame length must be in [" + ConnectionLimits.SHORTEST_FRAME + ", " + maxFrameBytes + "] (was " + length
            + ")");
    this.length = length;
    this.maxFrameBytes = maxFrameBytes;
  }

  /// Length that was announced, in bytes.
  public int length() {
    return length;
  }

  /// Longest frame that is accepted, in bytes.
  public int maxFrameBytes() {
    return maxFrameBytes;
  }
}
