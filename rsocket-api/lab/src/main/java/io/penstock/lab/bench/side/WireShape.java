package io.penstock.lab.bench.side;

import io.penstock.wire.protocol.Limits;

/// Shape of the travel of blocks of one size: slices of 512 KiB, windows of 4 MiB, but at least 4 blocks and at most
/// 1,024.
public record WireShape(int windowBlocks) {
  public static final int SLICE_BYTES = 512 << 10;
  static final long BUDGET_BYTES = 64L << 20;
  private static final int WINDOW_BYTES = 4 << 20;
  private static final int MAX_KEYS = 1 << 16;

  public static WireShape of(int blockBytes) {
    return new WireShape(Math.clamp(WINDOW_BYTES / blockBytes, 4, 1024));
  }

  /// @throws IllegalArgumentException if the far side takes no request of so many blocks
  public static void requireBatch(int batch) {
    if (batch < 1 || batch > MAX_KEYS) {
      throw new IllegalArgumentException("--batch must be in [1, " + MAX_KEYS + "] (was " + batch + ")");
    }
  }

  public Limits limits() {
    return new Limits(SLICE_BYTES, windowBlocks, MAX_KEYS);
  }

  /// Number of blocks that a node may receive in addition to those that it keeps.
  public int ingressBlocks() {
    return 8 * windowBlocks;
  }

  /// Number of blocks that a client has room for: two windows, and the blocks of requests under way.
  public int slots(int requests, int batch) {
    return 2 * windowBlocks + requests * Math.max(2 * batch, windowBlocks);
  }
}
