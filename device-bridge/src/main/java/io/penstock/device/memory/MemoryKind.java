package io.penstock.device.memory;

import static java.util.Objects.requireNonNull;

import java.util.OptionalInt;

/// Properties of host memory.
///
/// @param node NUMA node that it is on, or that was requested; empty for any
/// @param locked whether it stays out of swap: locked by the system or by a driver
public record MemoryKind(PageKind pages, OptionalInt node, boolean locked) {
  public MemoryKind {
    requireNonNull(pages, "pages");
    requireNonNull(node, "node");
  }

  /// On any node, not locked.
  public static MemoryKind of(PageKind pages) {
    return new MemoryKind(pages, OptionalInt.empty(), false);
  }
}
