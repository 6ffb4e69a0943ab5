package io.penstock.wire.transport;

import static java.util.Objects.requireNonNull;

import io.penstock.check.Checks;
import java.time.Duration;

/// What peers may make a server hold of frames that have not come whole. A frame that the server asked for takes no
/// room, for the server has memory for what it asks for.
///
/// @param setupBytes longest frame before a connection is set up
/// @param askedBytes longest frame that the server asks for by `REQUEST_N`; 0 if it asks for none
/// @param roomBytes room for other frames, over all connections: such a frame takes its length when it begins, of at
///     most half of what is free then
/// @param frameTime longest time from the first byte of a frame to its last, while the server reads
public record ReceiveLimits(int setupBytes, int askedBytes, long roomBytes, Duration frameTime) {
  /// A frame of up to so many bytes takes no room: small requests never wait for it.
  public static final int FREE_BYTES = 16 << 10;

  public ReceiveLimits {
    ConnectionLimits.within("setupBytes", setupBytes, 64, ConnectionLimits.LONGEST_FRAME);
    ConnectionLimits.within("askedBytes", askedBytes, 0, ConnectionLimits.LONGEST_FRAME);
    Checks.positive("roomBytes", roomBytes);
    requireNonNull(frameTime, "frameTime");
    Checks.positive("frameTime", frameTime);
  }

  /// Frames of 64 KiB before SETUP, none that are asked for, 64 MiB of room, 10 s for a frame.
  public static ReceiveLimits defaults() {
    return new ReceiveLimits(64 << 10, 0, 64L << 20, Duration.ofSeconds(10));
  }

  public ReceiveLimits withSetupBytes(int bytes) {
    return new ReceiveLimits(bytes, askedBytes, roomBytes, frameTime);
  }

  public ReceiveLimits withAskedBytes(int bytes) {
    return new ReceiveLimits(setupBytes, bytes, roomBytes, frameTime);
  }

  public ReceiveLimits withRoomBytes(long bytes) {
    return new ReceiveLimits(setupBytes, askedBytes, bytes, frameTime);
  }

  public ReceiveLimits withFrameTime(Duration time) {
    return new ReceiveLimits(setupBytes, askedBytes, roomBytes, time);
  }

  /// @throws IllegalArgumentException if a frame of `longest` bytes would never find room
  public ReceiveLimits requireRoomFor(int longest) {
    if (roomBytes < 2L * longest) {
      throw new IllegalArgumentException(
          "roomBytes must be >= 2 frames of the longest, " + longest + " bytes (was " + roomBytes + ")");
    }
    return this;
  }
}
