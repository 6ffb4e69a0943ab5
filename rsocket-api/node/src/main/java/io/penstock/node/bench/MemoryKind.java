package io.penstock.node.bench;

/// The memory that bytes come from and go to.
enum MemoryKind {
  HOST,
  /// Memory of a device; bytes go through host memory in batches of copies.
  DEVICE
}
