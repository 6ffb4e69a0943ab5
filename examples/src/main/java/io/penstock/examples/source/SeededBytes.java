package io.penstock.examples.source;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/// Bytes that are a function of a seed and their position: made on one side, made again and compared on the other.
///
/// Word *i*, little-endian, is `w ^ (w >>> 29)` with `w = seed + i × STEP`. Lengths need not be multiples of 8,
/// positions must be.
public final class SeededBytes {
  private static final ValueLayout.OfLong WORD = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final long STEP = 0x9E3779B97F4A7C15L;

  private SeededBytes() {}

  /// Fills `to` with the bytes from `position` on.
  public static void fill(long seed, long position, MemorySegment to) {
    long first = firstWord(position);
    long words = to.byteSize() >>> 3;
    for (long i = 0; i < words; i++) {
      to.set(WORD, i << 3, word(seed, first + i));
    }
    for (long at = words << 3; at < to.byteSize(); at++) {
      to.set(ValueLayout.JAVA_BYTE, at, lastByte(seed, first + words, at));
    }
  }

  /// Offset in `bytes` of the first word that differs from those from `position` on, or -1.
  public static long mismatch(long seed, long position, MemorySegment bytes) {
    long first = firstWord(position);
    long words = bytes.byteSize() >>> 3;
    for (long i = 0; i < words; i++) {
      if (bytes.get(WORD, i << 3) != word(seed, first + i)) {
        return i << 3;
      }
    }
    for (long at = words << 3; at < bytes.byteSize(); at++) {
      if (bytes.get(ValueLayout.JAVA_BYTE, at) != lastByte(seed, first + words, at)) {
        return at;
      }
    }
    return -1;
  }

  private static long firstWord(long position) {
    if ((position & 7) != 0) {
      throw new IllegalArgumentException("position must be a multiple of 8 (was " + position + ")");
    }
    return position >>> 3;
  }

  private static long word(long seed, long index) {
    long w = seed + index * STEP;
    return w ^ (w >>> 29);
  }

  private static byte lastByte(long seed, long index, long at) {
    return (byte) (word(seed, index) >>> ((at & 7) << 3));
  }
}
