package io.penstock.wire.transport;

import io.penstock.check.Checks;
import java.time.Duration;

/// Limits of one connection.
///
/// @param maxFrameBytes longest frame sent or accepted, 64 to 16,777,215
/// @param maxQueuedBytes maximum bytes waiting for the socket, at least `maxFrameBytes`
/// @param maxQueuedFrames maximum number of frames waiting for the socket
/// @param maxChannelBytes bytes handed to the socket after which the rest waits in the queue, where frames of stream 0
///     overtake
/// @param minReceiveBytes smallest receive buffer
/// @param maxReceiveBytes largest receive buffer; a short frame pins the one that it came in until it is released
/// @param closeGrace maximum time of a close to flush and to receive the peer's own close
public record ConnectionLimits(
    int maxFrameBytes,
    long maxQueuedBytes,
    int maxQueuedFrames,
    int maxChannelBytes,
    int minReceiveBytes,
    int maxReceiveBytes,
    Duration closeGrace) {
  /// Longest frame that RSocket's 24-bit length can express.
  public static final int LONGEST_FRAME = 0xFF_FFFF;

  /// Shortest frame: a stream id, a type and flags.
  public static final int SHORTEST_FRAME = 6;

  public ConnectionLimits {
    within("maxFrameBytes", maxFrameBytes, 64, LONGEST_FRAME);
    if (maxQueuedBytes < maxFrameBytes) {
      throw new IllegalArgumentException(
          "maxQueuedBytes must be >= maxFrameBytes (was " + maxQueuedBytes + ", maxFrameBytes " + maxFrameBytes + ")");
    }
    within("maxQueuedFrames", maxQueuedFrames, 1, 1 << 24);
    within("maxChannelBytes", maxChannelBytes, 1 << 12, 1 << 26);
    within("minReceiveBytes", minReceiveBytes, 1 << 10, 1 << 20);
    within("maxReceiveBytes", maxReceiveBytes, minReceiveBytes, 1 << 24);
    Checks.positive("closeGrace", closeGrace);
  }

  /// Frames up to 16,777,215 bytes; 64 MiB or 65,536 frames queued; 1 MiB in the socket; receive buffers of 4 to 128
  /// KiB; 2 s grace.
  public static ConnectionLimits defaults() {
    return new ConnectionLimits(LONGEST_FRAME, 64L << 20, 1 << 16, 1 << 20, 1 << 12, 1 << 17, Duration.ofSeconds(2));
  }

  public ConnectionLimits withMaxFrameBytes(int bytes) {
    return new ConnectionLimits(bytes, maxQueuedBytes, maxQueuedFrames, maxChannelBytes, minReceiveBytes,
        maxReceiveBytes, closeGrace);
  }

  public ConnectionLimits withMaxQueuedBytes(long bytes) {
    return new ConnectionLimits(maxFrameBytes, bytes, maxQueuedFrames, maxChannelBytes, minReceiveBytes,
        maxReceiveBytes, closeGrace);
  }

  public ConnectionLimits withMaxQueuedFrames(int frames) {
    return new ConnectionLimits(maxFrameBytes, maxQueuedBytes, frames, maxChannelBytes, minReceiveBytes,
        maxReceiveBytes, closeGrace);
  }

  public ConnectionLimits withMaxChannelBytes(int bytes) {
    return new ConnectionLimits(maxFrameBytes, maxQueuedBytes, maxQueuedFrames, bytes, minReceiveBytes, maxReceiveBytes,
        closeGrace);
  }

  public ConnectionLimits withReceiveBytes(int min, int max) {
    return new ConnectionLimits(maxFrameBytes, maxQueuedBytes, maxQueuedFrames, maxChannelBytes, min, max, closeGrace);
  }

  public ConnectionLimits withCloseGrace(Duration grace) {
    return new ConnectionLimits(maxFrameBytes, maxQueuedBytes, maxQueuedFrames, maxChannelBytes, minReceiveBytes,
        maxReceiveBytes, grace);
  }

  public static void within(String name, int value, int least, int most) {
    if (value < least || value > most) {
      throw new IllegalArgumentException(name + " must be in [" + least + ", " + most + "] (was " + value + ")");
    }
  }
}
