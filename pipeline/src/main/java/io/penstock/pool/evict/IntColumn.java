package io.penstock.pool.evict;

import java.util.Arrays;

/// An `int` for each row, 0 at first, in chunks: growing copies no values.
final class IntColumn {
  private static final int CHUNK_BITS = 12;
  private static final int CHUNK = 1 << CHUNK_BITS;

  private int[][] chunks = new int[1][];

  int get(int row) {
    int chunk = row >>> CHUNK_BITS;
    return chunk >= chunks.length || chunks[chunk] == null ? 0 : chunks[chunk][row & (CHUNK - 1)];
  }

  void set(int row, int value) {
    int chunk = row >>> CHUNK_BITS;
    if (chunk >= chunks.length) {
      chunks = Arrays.copyOf(chunks, Math.max(chunk + 1, 2 * chunks.length));
    }
    if (chunks[chunk] == null) {
      chunks[chunk] = new int[CHUNK];
    }
    chunks[chunk][row & (CHUNK - 1)] = value;
  }

  void clear() {
    chunks = new int[1][];
  }
}
