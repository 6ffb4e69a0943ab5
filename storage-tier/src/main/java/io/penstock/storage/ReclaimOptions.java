package io.penstock.storage;

import io.penstock.check.Checks;

/// When live blocks are moved out of segments that are mostly dead, so that these can go.
///
/// Each segment counts as `segmentBytes`, however full it is.
///
/// @param capacityBytes most bytes of segments; a put that would need more fails as on a full disk. [#UNLIMITED], or 4
///     segments or more
/// @param highWater share of the capacity above which blocks are moved
/// @param lowWater share of the capacity at which that ends
/// @param mostSpread bytes of segments for each live byte, and two segments, above which blocks are moved, whatever the
///     capacity
/// @param bytesPerSecond most bytes moved in a second, unless a put waits for room
/// @param diskHighWatermark share of the disk in use, by any program, above which blocks are moved and, where that
///     gives nothing, given up; 1 for never
/// @param diskLowWatermark share at which that ends, if the journal has anything left
public record ReclaimOptions(long capacityBytes, double highWater, double lowWater, double mostSpread,
    long bytesPerSecond, double diskHighWatermark,
    double diskLowWatermark) {
  /// As many bytes as the disk has.
  public static final long UNLIMITED = Long.MAX_VALUE;

  public ReclaimOptions {
    Checks.positive("capacityBytes", capacityBytes);
    Checks.positive("bytesPerSecond", bytesPerSecond);
    if (!(lowWater > 0 && lowWater <= highWater && highWater <= 1)) {
      throw new IllegalArgumentException(
          "lowWater and highWater must be in (0, 1], in that order (was " + lowWater + " and " + highWater + ")");
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

  /// Less would be mostly moving.
  private static final double LEAST_SPREAD = 1.1;

  /// No capacity; from 0.90 to 0.80 of one; half as much again as is live; 64 MiB/s; whatever the disk has.
  public static ReclaimOptions defaults() {
    return new ReclaimOptions(UNLIMITED, 0.90, 0.80, 1.5, 64 << 20, 1, 1);
  }

  public ReclaimOptions withCapacityBytes(long capacityBytes) {
    return new ReclaimOptions(capacityBytes, highWater, lowWater, mostSpread, bytesPerSecond, diskHighWatermark,
        diskLowWatermark);
  }

  public ReclaimOptions withWater(double highWater, double lowWater) {
    return new ReclaimOptions(capacityBytes, highWater, lowWater, mostSpread, bytesPerSecond, diskHighWatermark,
        diskLowWatermark);
  }

  public ReclaimOptions withMostSpread(double mostSpread) {
    return new ReclaimOptions(capacityBytes, highWater, lowWater, mostSpread, bytesPerSecond, diskHighWatermark,
        diskLowWatermark);
  }

  public ReclaimOptions withBytesPerSecond(long bytesPerSecond) {
    return new ReclaimOptions(capacityBytes, highWater, lowWater, mostSpread, bytesPerSecond, diskHighWatermark,
        diskLowWatermark);
  }

  public ReclaimOptions withDiskWatermarks(double diskHighWatermark, double diskLowWatermark) {
    return new ReclaimOptions(capacityBytes, highWater, lowWater, mostSpread, bytesPerSecond, diskHighWatermark,
        diskLowWatermark);
  }
}
