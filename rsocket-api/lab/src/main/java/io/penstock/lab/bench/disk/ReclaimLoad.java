package io.penstock.lab.bench.disk;

import io.penstock.node.text.Sizes;
import io.penstock.storage.EngineKind;
import java.time.Duration;

/// Load of a [ReclaimBench] on a journal.
///
/// @param engine of the journal
/// @param liveBytes bytes of live blocks, at any time
/// @param blockBytes bytes of a block
/// @param segmentBytes bytes of a segment
/// @param liveShare live bytes as a share of all bytes that the journal may hold: blocks are moved when the real share
///     falls below it
/// @param readsPerSecond random blocks read in a second
/// @param putBytesPerSecond bytes put in a second, each block in the place of a random one
/// @param churn bytes put before the measurement, for each live byte, until compaction is steady
/// @param phase time of each of the two measurements
/// @param seed of all random choices
record ReclaimLoad(EngineKind engine, long liveBytes, int blockBytes, long segmentBytes, double liveShare,
    int readsPerSecond,
    long putBytesPerSecond, double churn, Duration phase, long seed) {
  private static final int LEAST_SEGMENTS = 16;

  ReclaimLoad {
    if (segmentBytes / 8 < blockBytes + (blockBytes >> 3)) {
      throw new IllegalArgumentException(
          "--block-bytes must be less than a ninth of --segment, %s (was %s)".formatted(Sizes.exact(segmentBytes),
              Sizes.exact(blockBytes)));
    }
    if (liveBytes < LEAST_SEGMENTS * segmentBytes) {
      throw new IllegalArgumentException("--live must be >= %d segments, %s (was %s)".formatted(LEAST_SEGMENTS,
          Sizes.exact(LEAST_SEGMENTS * segmentBytes), Sizes.exact(liveBytes)));
    }
    if (!(liveShare > 0 && liveShare <= 0.9)) {
      throw new IllegalArgumentException("--live-share must be in (0, 0.9] (was " + liveShare + ")");
    }
    if (readsPerSecond <= 0 || putBytesPerSecond <= 0) {
      throw new IllegalArgumentException(
          "--reads and --puts must be > 0 (was " + readsPerSecond + " and " + putBytesPerSecond + ")");
    }
  }

  int blocks() {
    return (int) (liveBytes / blockBytes);
  }

  double putsPerSecond() {
    return (double) putBytesPerSecond / blockBytes;
  }
}
