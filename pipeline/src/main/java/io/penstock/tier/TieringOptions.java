package io.penstock.tier;

import static java.util.Objects.requireNonNull;

import io.penstock.block.Checks;
import io.penstock.pool.FrequencySketch;
import io.penstock.pool.OffloadRule;

/// Where a [TierStack] leaves the textbook policy, for the sake of its disk.
///
/// @param offload which blocks are demoted to a disk when they leave memory; the others are evicted. Not asked if the
///     stack is written through, nor about blocks that the disk has already
/// @param promoteAtHit the recent hit at which a block on a disk is promoted; until then it stays there, as the most
///     recently used
/// @param prefetchBlocks most blocks of a lease that are read from a store before its reader asks for them, in the
///     order of its keys; 0 for none
/// @param queueBlocks most blocks that wait for a disk or are being put to it: while there are more, a reservation
///     waits; [#UNBOUNDED] for as many as host memory holds
/// @param queueBytes the same in bytes
public record TieringOptions(OffloadRule offload, int promoteAtHit, int prefetchBlocks, long queueBlocks,
    long queueBytes) {
  /// No bound of its own.
  public static final long UNBOUNDED = Long.MAX_VALUE;

  private static final TieringOptions EXACT = new TieringOptions(OffloadRule.all(), 1, 0, UNBOUNDED, UNBOUNDED);

  public TieringOptions {
    requireNonNull(offload, "offload");
    if (promoteAtHit <= 0 || promoteAtHit > FrequencySketch.MOST) {
      throw new IllegalArgumentException(
          "promoteAtHit must be in [1, " + FrequencySketch.MOST + "] (was " + promoteAtHit + ")");
    }
    Checks.notNegative("prefetchBlocks", prefetchBlocks);
    Checks.positive("queueBlocks", queueBlocks);
    Checks.positive("queueBytes", queueBytes);
  }

  /// None of this: hits and victims are those of the textbook policy.
  public static TieringOptions exact() {
    return EXACT;
  }

  public TieringOptions withOffload(OffloadRule offload) {
    return new TieringOptions(offload, promoteAtHit, prefetchBlocks, queueBlocks, queueBytes);
  }

  public TieringOptions withPromoteAtHit(int promoteAtHit) {
    return new TieringOptions(offload, promoteAtHit, prefetchBlocks, queueBlocks, queueBytes);
  }

  public TieringOptions withPrefetchBlocks(int prefetchBlocks) {
    return new TieringOptions(offload, promoteAtHit, prefetchBlocks, queueBlocks, queueBytes);
  }

  public TieringOptions withQueue(long queueBlocks, long queueBytes) {
    return new TieringOptions(offload, promoteAtHit, prefetchBlocks, queueBlocks, queueBytes);
  }

  /// Whether uses are to be counted.
  boolean countsUses() {
    return promoteAtHit > 1 || !offload.equals(OffloadRule.all());
  }

  /// Most blocks of `blockBytes` in the queue; at least one.
  long mostQueued(long blockBytes) {
    return Math.max(1, Math.min(queueBlocks, queueBytes == UNBOUNDED ? UNBOUNDED : queueBytes / blockBytes));
  }
}
