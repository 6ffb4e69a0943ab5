package io.penstock.examples.disaggregated;

/// Where the finished blocks of a rank lie.
enum TierKind {
  /// Memory of a simulated device.
  HBM,
  /// Host memory.
  DRAM,
  /// A journal on disk.
  SSD
}
