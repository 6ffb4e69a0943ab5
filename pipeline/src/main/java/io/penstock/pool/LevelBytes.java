package io.penstock.pool;

import java.util.Arrays;

/// A level for each line, a byte each, in chunks as those of [IntRows].
final class LevelBytes {
  private static final int CHUNK_BITS = 14;
  private static final int CHUNK = 1 << CHUNK_BITS;
  private static final int FIRST = 64;

  private byte[][] chunks = new byte[1][0];

  int get(int line) {
    return chunks[line >>> CHUNK_BITS][line & (CHUNK - 1)];
  }

  void set(int line, int level) {
    int chunk = line >>> CHUNK_BITS;
    int at = line & (CHUNK - 1);
    if (chunk >= chunks.length) {
      chunks = Arrays.copyOf(chunks, 2 * chunk);
    }
    byte[] there = chunks[chunk];
    if (there == null || at >= there.length) {
      int length = chunk > 0 ? CHUNK : Math.min(CHUNK, Math.max(FIRST, 2 * Integer.highestOneBit(at)));
      there = there == null ? new byte[length] : Arrays.copyOf(there, length);
      chunks[chunk] = there;
    }
    there[at] = (byte) level;
  }

  void clear() {
    chunks = new byte[1][0];
  }
}
