package io.penstock.storage;

import io.penstock.check.Checks;

/// Rules by which compaction moves live blocks out of segments that are mostly dead.
///
/// Each segment counts as `segmentBytes`, however full.
///
/// @param capacityBytes maximum bytes of segments; a put that needs more fails as on a full disk. [#UNLIMITED], or 4
///     segments or more
/// @param highWatermark share of the capacity above which compaction begins
/// @param lowWatermark share of the capacity at which it ends
/// @param mostSpread bytes of segments for each live byte, and two segments, above which compaction begins, for any
///     capacity
/// @param bytesPerSecond maximum bytes moved in a second, unless a put waits for room
/// @param diskHighWatermark share of the disk in use, by any program, above which the journal compacts and then gives
///     blocks up; 1 for never
/// @param diskLowWatermark share at which that ends, or when the journal has nothing left
public record ReclaimOptions(long capacityBytes, double highWatermark, double lowWatermark, double mostSpread,
    long bytesPerSecond, double diskHighWatermark,
    double diskLowWatermark) {
  /// As many bytes as the disk has.
  public static final long UNLIMITED = Long.MAX_VALUE;

  public ReclaimOptions {
    Checks.positive("capacityBytes", capacityBytes);
    Checks.positive("bytesPerSecond", bytesPerSecond);
    if (!(lowWatermark > 0 && lowWatermark <= highWatermark && highWatermark <= 1)) {
      throw new IllegalArgumentException(
          "lowWatermark and highWatermark must be in (0, 1], in that order (was " + lowWatermark + " and "
              + highWatermark + ")");
    }
    if (!(diskLowWatermark > 0 && diskLowWatermark <= diskHighWatermark && diskHighWatermark <= 1)) {
      throw new IllegalArgumentException(
          "diskLowWatermark and diskHighWatermark must be in (0, 1], in that order (was " + diskLowWatermark + " and "
              + diskHighWatermark + ")");
    }
    if (!(mostSpread >= LEAST_SPREAD)) {
      throw new IllegalArgumentException("mostSpread must be >= " + LEAST_SPREAD + " (was " + mostSpread + ")");
    }
  }

  /// Minimum spread; with less, compaction would never end.
  private static final double LEAST_SPREAD = 1.1;

  /// No capacity; from 0.90 to 0.80 of one; half as much again as is live; 64 MiB/s; the whole disk.
  public static ReclaimOptions defaults() {
    return new ReclaimOptions(UNLIMITED, 0.90, 0.80, 1.5, 64 << 20, 1, 1);
  }

  public ReclaimOptions withCapacityBytes(long capacityBytes) {
    return new ReclaimOptions(capacityBytes, highWatermark, lowWatermark, mostSpread, bytesPerSecond, diskHighWatermark,
        diskLowWatermark);
  }

  public ReclaimOptions withWatermarks(double highWatermark, double lowWatermark) {
    return new ReclaimOptions(capacityBytes, highWatermark, lowWatermark, mostSpread, bytesPerSecond, diskHighWatermark,
        diskLowWatermark);
  }

  public ReclaimOptions withMostSpread(double mostSpread) {
    return new ReclaimOptions(capacityBytes, highWatermark, lowWatermark, mostSpread, bytesPerSecond, diskHighWatermark,
        diskLowWatermark);
  }

  public ReclaimOptions withBytesPerSecond(long bytesPerSecond) {
    return new ReclaimOptions(capacityBytes, highWatermark, lowWatermark, mostSpread, bytesPerSecond, diskHighWatermark,
        diskLowWatermark);
  }

  public ReclaimOptions withDiskWatermarks(double diskHighWatermark, double diskLowWatermark) {
    return new ReclaimOptions(capacityBytes, highWatermark, lowWatermark, mostSpread, bytesPerSecond, diskHighWatermark,
        diskLowWatermark);
  }
}
