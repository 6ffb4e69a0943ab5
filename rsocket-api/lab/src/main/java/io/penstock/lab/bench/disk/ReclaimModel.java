package io.penstock.lab.bench.disk;

/// Model of the cost of compaction when blocks are overwritten uniformly at random and the oldest segments are emptied
/// first: a share u of an emptied segment is live, where u = e^(-(1 - u) / d), with d of all bytes live, and each byte
/// put makes 1 / (1 - u) bytes written.
final class ReclaimModel {
  private static final int STEPS = 1_000;

  private ReclaimModel() {}

  /// @param liveShare d
  static double writeAmplification(double liveShare) {
    double share = 0.5;
    for (int i = 0; i < STEPS; i++) {
      share = Math.exp(-(1 - share) / liveShare);
    }
    return 1 / (1 - share);
  }
}
