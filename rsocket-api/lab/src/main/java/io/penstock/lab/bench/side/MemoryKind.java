package io.penstock.lab.bench.side;

/// Kind of the memory that bytes come from and go to.
public enum MemoryKind {
  HOST,
  /// Memory of a device; bytes go through host memory in batches of copies.
  DEVICE
}
