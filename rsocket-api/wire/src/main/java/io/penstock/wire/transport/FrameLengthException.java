package io.penstock.wire.transport;

/// The peer announced a frame that is too short to be one or longer than agreed; the connection was closed.
public final class FrameLengthException extends RefusedPeerException {
  private final int length;
  private final int maxFrameBytes;

  public FrameLengthException(int length, int maxFrameBytes) {
    super(Refusal.FRAME_LENGTH,
        "frame length must be in [" + ConnectionLimits.SHORTEST_FRAME + ", " + maxFrameBytes + "] (was " + length
            + spoken(length) + ")");
    this.length = length;
    this.maxFrameBytes = maxFrameBytes;
  }

  /// What the first three bytes begin where no frame of RSocket does: a scan and a wrong URL are told from a mistake.
  private static String spoken(int length) {
    return switch (length) {
      case 0x474554, 0x504f53, 0x505554, 0x484541, 0x4f5054, 0x434f4e, 0x44454c, 0x505249 -> ", the beginning of HTTP";
      case 0x5353482d >>> 8 -> ", the beginning of SSH";
      default -> "";
    };
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
