package io.penstock.lab.bench.disk;

import io.penstock.check.Checks;
import io.penstock.node.text.Sizes;
import io.penstock.storage.EngineKind;

/// The journal that a [RecoveryBench] opens and checks, and how often.
///
/// @param engine of the journal
/// @param bytes of its blocks
/// @param blockBytes bytes of a block
/// @param segmentBytes bytes of a segment
/// @param rounds in which each figure is measured once
/// @param cold whether the system has nothing of the files in its cache when a figure is measured; else all of them
record RecoveryLoad(EngineKind engine, long bytes, int blockBytes, long segmentBytes, int rounds, boolean cold) {
  RecoveryLoad {
    if (blockBytes <= 0 || segmentBytes / 8 < blockBytes + (blockBytes >> 3)) {
      throw new IllegalArgumentException(
          "--block-bytes must be > 0 and less than a ninth of --segment, %s (was %s)".formatted(
              Sizes.exact(segmentBytes), Sizes.exact(blockBytes)));
    }
    if (bytes < blockBytes) {
      throw new IllegalArgumentException(
          "--size must be >= --block-bytes, %s (was %s)".formatted(Sizes.exact(blockBytes), Sizes.exact(bytes)));
    }
    Checks.notNegative("--rounds", rounds);
  }

  int blocks() {
    return Math.toIntExact(bytes / blockBytes);
  }
}
