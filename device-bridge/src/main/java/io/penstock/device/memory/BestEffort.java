package io.penstock.device.memory;

import java.util.stream.IntStream;

/// Sizes to try when less memory than wanted is acceptable.
final class BestEffort {
  private static final long GIB = 1L << 30;

  private BestEffort() {}

  /// 100, 90, … 50 % of `bytes`, each rounded down to 1 GiB; none is less than a half, and none comes twice.
  ///
  /// @throws IllegalArgumentException if `bytes` is less than 1 GiB
  static long[] sizes(long bytes) {
    if (bytes < GIB) {
      throw new IllegalArgumentException("bytes must be >= " + GIB + " (was " + bytes + ")");
    }
    return IntStream.iterate(100, percent -> percent >= 50, percent -> percent - 10)
        .mapToLong(percent -> share(bytes, percent) / GIB * GIB).filter(size -> size >= bytes - bytes / 2).distinct()
        .toArray();
  }

  /// In two steps, since `bytes` times 100 may be more than a `long` holds.
  private static long share(long bytes, int percent) {
    return bytes / 100 * percent + bytes % 100 * percent / 100;
  }
}
