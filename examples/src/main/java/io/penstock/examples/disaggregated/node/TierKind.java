package io.penstock.examples.disaggregated.node;

/// Tier of the finished blocks of a rank.
public enum TierKind {
  /// Memory of a simulated device.
  HBM,
  /// Host memory.
  DRAM,
  /// A journal on disk.
  SSD
}
