package io.penstock.wire.transfer;

import io.penstock.TransientKvException;
import org.jspecify.annotations.Nullable;

/// Why an item did not complete.
public enum TransferFailure {
  /// Its deadline passed.
  TIMEOUT,
  /// Its batch was cancelled.
  CANCELLED,
  /// Received bytes differ from their checksum, twice.
  CORRUPT,
  /// The peer has no such segment, or not any more.
  UNKNOWN_SEGMENT,
  /// The item is not inside its segment.
  OUT_OF_RANGE,
  /// The connection was lost, or could not be made, twice.
  LOST,
  /// The peer, or a bound, refused it for now, twice.
  BUSY,
  /// The peer refused it.
  REFUSED;

  /// @param lost whether the connection was
  static @Nullable TransferFailure of(TransferState state, @Nullable Throwable error, boolean lost) {
    return switch (state) {
      case TIMEOUT -> TIMEOUT;
      case CANCELLED -> CANCELLED;
      case FAILED -> lost ? LOST : of(error);
      default -> null;
    };
  }

  private static TransferFailure of(@Nullable Throwable error) {
    return switch (error) {
      case SegmentLink.CorruptException corrupt -> CORRUPT;
      case SegmentRegistry.UnknownSegmentException unknown -> UNKNOWN_SEGMENT;
      case TransferEngine.RangeException outside -> OUT_OF_RANGE;
      case TransientKvException passing -> BUSY;
      case null, default -> REFUSED;
    };
  }
}
