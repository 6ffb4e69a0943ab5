package io.penstock.storage.rivals;

import io.penstock.block.Block;

/// The checksums of blocks.
final class Sums {
  private Sums() {}

  /// One a granule.
  static int[] of(Block block) {
    int[] sums = new int[block.layout().granules()];
    for (int i = 0; i < sums.length; i++) {
      sums[i] = block.checksum(i);
    }
    return sums;
  }
}
