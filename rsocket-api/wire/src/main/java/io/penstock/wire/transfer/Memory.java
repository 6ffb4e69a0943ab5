package io.penstock.wire.transfer;

import java.lang.foreign.MemorySegment;

/// Requirements on memory that event loops move.
final class Memory {
  /// Stands for any event loop.
  private static final Thread ANOTHER = Thread.ofPlatform().unstarted(() -> {});

  private Memory() {}

  /// @param written whether bytes land in it
  static MemorySegment require(String name, MemorySegment memory, boolean written) {
    if (!memory.isNative()) {
      throw new IllegalArgumentException(name + " must be native memory (was of the heap)");
    } else if (!memory.isAccessibleBy(ANOTHER)) {
      throw new IllegalArgumentException(name + " must be accessible by all threads (was confined to one)");
    } else if (written && memory.isReadOnly()) {
      throw new IllegalArgumentException(name + " must be writable (was read-only)");
    }
    return memory;
  }

  /// `offset + length`, both checked.
  ///
  /// @throws IllegalArgumentException that names the value below 0 or above the limit
  static long end(long offset, long length) {
    if (offset < 0 || length < 0 || offset + length < 0) {
      throw new IllegalArgumentException(
          "offset and length must be >= 0, and their sum <= 2^63 - 1 (was " + offset + ", " + length + ")");
    }
    return offset + length;
  }
}
