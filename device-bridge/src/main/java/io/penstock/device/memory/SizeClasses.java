package io.penstock.device.memory;

/// Sizes that memory is kept in for reuse: multiples of 512 bytes, eight to a doubling, so that rounding up costs at
/// most an eighth.
final class SizeClasses {
  static final long SMALLEST = 512;
  private static final int STEPS_A_DOUBLING_SHIFT = 3;

  private SizeClasses() {}

  /// The least size that has `bytes`.
  ///
  /// @throws IllegalArgumentException if `bytes` is not positive, or more than 2^62
  static long of(long bytes) {
    if (bytes <= 0 || bytes > 1L << 62) {
      throw new IllegalArgumentException("bytes must be in [1, 2^62] (was " + bytes + ")");
    }
    int doubling = Long.SIZE - 1 - Long.numberOfLeadingZeros(bytes); // 2^doubling <= bytes
    long step = Math.max(SMALLEST, 1L << Math.max(0, doubling - STEPS_A_DOUBLING_SHIFT));
    return Math.ceilDiv(bytes, step) * step;
  }
}
