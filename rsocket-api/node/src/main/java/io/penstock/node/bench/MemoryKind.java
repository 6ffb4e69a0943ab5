package io.penstock.node.bench;

/// The memory that blocks come from and go to.
enum MemoryKind {
  HOST
}
