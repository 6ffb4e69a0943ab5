package io.penstock.lab.bench.disk;

import io.penstock.PenstockVersion;
import io.penstock.lab.bench.side.Bench;
import java.util.Locale;

/// What a [ReclaimBench] found.
///
/// @param penstock version
/// @param engine of the journal
/// @param blockBytes bytes of a block
/// @param segmentBytes bytes of a segment
/// @param liveShare of the room for records in all segments, the mean of the phase with puts
/// @param quiet reads while nothing is put
/// @param reclaiming reads while blocks are overwritten and moved
/// @param slowdown how many times the quiet p99 the other one is
/// @param putBytes bytes of records put in the second phase
/// @param movedBytes bytes of records moved in it
/// @param writeAmplification (put + moved) / put
/// @param model what it is by the model
record ReclaimReport(String penstock, String engine, int blockBytes, long segmentBytes, double liveShare, Reads quiet,
    Reads reclaiming, double slowdown,
    long putBytes, long movedBytes, double writeAmplification, double model) implements Bench.Report {
  /// Limits of the slowdown of the p99, and of the write amplification beside its model.
  private static final double MOST_SLOWDOWN = 2;
  private static final double MOST_OFF = 0.10;

  /// Times of reads, in microseconds.
  ///
  /// @param count how many there were
  record Reads(long count, double p50, double p90, double p99, double p999, double most) {}

  static ReclaimReport of(ReclaimLoad load, Reads quiet, Reads reclaiming, double liveShare, long putBytes,
      long movedBytes) {
    double written = putBytes == 0 ? 1 : 1 + (double) movedBytes / putBytes;
    return new ReclaimReport(PenstockVersion.current(), load.engine().name().toLowerCase(Locale.ROOT),
        load.blockBytes(),
        load.segmentBytes(), liveShare, quiet, reclaiming, reclaiming.p99() / quiet.p99(), putBytes, movedBytes,
        written, ReclaimModel.writeAmplification(liveShare));
  }

  boolean keepsReadsFast() {
    return slowdown <= MOST_SLOWDOWN;
  }

  boolean followsModel() {
    return Math.abs(writeAmplification / model - 1) <= MOST_OFF;
  }

  @Override
  public String table() {
    return ReclaimTable.of(this);
  }

  @Override
  public boolean meetsTargets() {
    return keepsReadsFast() && followsModel();
  }
}
