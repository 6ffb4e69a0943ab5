package io.penstock.examples.disaggregated.node;

/// Where the finished blocks of a rank lie.
public enum TierKind {
  /// Memory of a simulated device.
  HBM,
  /// Host memory.
  DRAM,
  /// A journal on disk.
  SSD
}
