package io.penstock.pool.evict;

import java.util.Arrays;

/// The level of each row, one byte each, in chunks like those of [IntRows].
public final class LevelBytes {
  private static final int CHUNK_BITS = 14;
  private static final int CHUNK = 1 << CHUNK_BITS;
  private static final int FIRST = 64;

  private byte[][] chunks = new byte[1][0];

  public int get(int row) {
    return chunks[row >>> CHUNK_BITS][row & (CHUNK - 1)];
  }

  void set(int row, int level) {
    int chunk = row >>> CHUNK_BITS;
    int at = row & (CHUNK - 1);
    if (chunk >= chunks.length) {
      chunks = Arrays.copyOf(chunks, 2 * chunk);
    }
    byte[] bytes = chunks[chunk];
    if (bytes == null || at >= bytes.length) {
      int length = chunk > 0 ? CHUNK : Math.min(CHUNK, Math.max(FIRST, 2 * Integer.highestOneBit(at)));
      bytes = bytes == null ? new byte[length] : Arrays.copyOf(bytes, length);
      chunks[chunk] = bytes;
    }
    bytes[at] = (byte) level;
  }

  public void clear() {
    chunks = new byte[1][0];
  }
}
