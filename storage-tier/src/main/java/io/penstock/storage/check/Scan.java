package io.penstock.storage.check;

import io.penstock.storage.engine.SegmentWindow;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/// Looks for bytes in a file, piece by piece.
final class Scan {
  private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final int PIECE_BYTES = 1 << 20;

  private Scan() {}

  /// Where `word` lies first in `[from, end)`, at a multiple of `step` from `from`; 0 if it does not.
  static long word(SegmentWindow file, long from, long end, int step, long word) {
    long at = from;
    while (end - at >= Long.BYTES) {
      int length = (int) Math.min(PIECE_BYTES, end - at);
      MemorySegment piece = file.bytes(at, length);
      int last = length - Long.BYTES;
      int i = 0;
      for (; i <= last; i += step) {
        if (piece.get(LONG, i) == word) {
          return at + i;
        }
      }
      at += i;
    }
    return 0;
  }

  /// Whether a byte from `from` on is not zero.
  static boolean nonZero(SegmentWindow file, long from) {
    for (long at = from; at < file.size(); at += PIECE_BYTES) {
      MemorySegment piece = file.bytes(at, (int) Math.min(PIECE_BYTES, file.size() - at));
      long i = 0;
      for (; i + Long.BYTES <= piece.byteSize(); i += Long.BYTES) {
        if (piece.get(LONG, i) != 0) {
          return true;
        }
      }
      for (; i < piece.byteSize(); i++) {
        if (piece.get(ValueLayout.JAVA_BYTE, i) != 0) {
          return true;
        }
      }
    }
    return false;
  }
}
