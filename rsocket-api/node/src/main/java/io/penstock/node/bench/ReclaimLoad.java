package io.penstock.node.bench;

import io.penstock.node.config.Sizes;
import io.penstock.storage.EngineKind;
import java.time.Duration;

/// What a [ReclaimBench] does to a journal.
///
/// @param engine of the journal
/// @param liveBytes bytes of blocks that count, at any time
/// @param blockBytes bytes of a block
/// @param segmentBytes bytes of a segment
/// @param liveShare of all bytes that the journal may hold, how many count: above it blocks are moved
/// @param readsPerSecond blocks read in a second, chosen by chance
/// @param putBytesPerSecond bytes put in a second, each block in the place of one chosen by chance
/// @param churn bytes put before anything is measured, for each live byte: until what is moved depends on the beginning
///     no longer
/// @param phase how long is measured without puts, and again with them
/// @param seed of everything that is chosen by chance
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
