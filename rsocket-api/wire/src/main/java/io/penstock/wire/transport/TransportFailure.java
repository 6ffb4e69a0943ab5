package io.penstock.wire.transport;

import io.penstock.PermanentKvException;

/// Why one end gave a connection up.
public sealed interface TransportFailure {
  /// A server ended a connection whose peer exceeded a bound; the server sent the peer the reason.
  sealed class RefusedPeerException extends PermanentKvException implements TransportFailure
      permits FrameLengthException {
    private final Refusal reason;

    public RefusedPeerException(Refusal reason, String message) {
      super(message);
      this.reason = reason;
    }

    /// The bound.
    public Refusal reason() {
      return reason;
    }
  }

  /// The peer announced a frame that is too short to be one or longer than agreed; the connection was closed.
  final class FrameLengthException extends RefusedPeerException {
    private final int length;
    private final int maxFrameBytes;

    public FrameLengthException(int length, int maxFrameBytes) {
      super(Refusal.FRAME_LENGTH,
          "frame length must be in [" + ConnectionLimits.SHORTEST_FRAME + ", " + maxFrameBytes + "] (was " + length
              + spoken(length) + ")");
      this.length = length;
      this.maxFrameBytes = maxFrameBytes;
    }

    /// Name of the protocol that the first three bytes begin, if no frame of RSocket does: it distinguishes a scan or a
    /// wrong URL from a mistake.
    private static String spoken(int length) {
      return switch (length) {
        case 0x474554, 0x504f53, 0x505554, 0x484541, 0x4f5054, 0x434f4e, 0x44454c, 0x505249 ->
          ", the beginning of HTTP";
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

  /// Received frames piled up before a subscriber that asked for none; the connection was closed.
  final class ReceiveOverrunException extends PermanentKvException implements TransportFailure {
    private final long bytes;

    public ReceiveOverrunException(long bytes, long maxBytes) {
      super("frames received without demand must be <= " + maxBytes + " bytes (was " + bytes + ")");
      this.bytes = bytes;
    }

    /// Bytes that waited.
    public long bytes() {
      return bytes;
    }
  }

  /// The frames to send exceeded the bound: the peer gave more credit than it reads; the connection was closed.
  final class SendQueueOverrunException extends PermanentKvException implements TransportFailure {
    private final long bytes;
    private final int frames;

    public SendQueueOverrunException(long bytes, long maxBytes, int frames, int maxFrames) {
      super(
          "send queue must be <= " + maxBytes + " bytes and " + maxFrames + " frames (was " + bytes + " bytes, "
              + frames
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
}
