package io.penstock.storage.rivals;

import io.penstock.block.BlockLayout;
import io.penstock.block.CacheSpace;
import io.penstock.block.Plane.ElementType;
import io.penstock.storage.disk.SyncRule;

/// What all rivals of one comparison have in common.
///
/// @param blockBytes bytes of a block: a power of two, 64 KiB or more
/// @param bytes of all blocks together
/// @param rule what a put that completed promises
/// @param threads that read
/// @param intoBytes memory that each reader reads into, one batch after the other; a batch, if that is more
record Contest(int blockBytes, long bytes, SyncRule rule, int threads, long intoBytes) {
  /// What is handed over at once: a hop between threads is worth so much.
  private static final int BATCH_BYTES = 1 << 20;

  private static final int LAYERS = 16;
  private static final int TOKENS = 16;
  private static final int HEAD = 128;

  /// Sixteen layers of keys and values: 32 granules, of 2 KiB in the smallest block.
  CacheSpace space() {
    int width = blockBytes / (LAYERS * TOKENS * 2 * 2);
    return CacheSpace.of("rivals",
        BlockLayout.attention(LAYERS, TOKENS, Math.max(1, width / HEAD), Math.min(HEAD, width), ElementType.BF16));
  }

  int blocks() {
    return (int) (bytes / blockBytes);
  }

  int batchBlocks() {
    return Math.max(1, BATCH_BYTES / blockBytes);
  }

  int batches() {
    return blocks() / batchBlocks();
  }
}
