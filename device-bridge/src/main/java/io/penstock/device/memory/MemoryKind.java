package io.penstock.device.memory;

import static java.util.Objects.requireNonNull;

import java.util.OptionalInt;

/// What host memory is, as far as those who gave it have said.
///
/// @param node NUMA node that it is on, or was asked to be; empty for whichever
/// @param locked whether it stays in memory: the system has locked it, or a driver has
public record MemoryKind(MemoryRung rung, OptionalInt node, boolean locked) {
  public MemoryKind {
    requireNonNull(rung, "rung");
    requireNonNull(node, "node");
  }

  /// On any node, not locked.
  public static MemoryKind of(MemoryRung rung) {
    return new MemoryKind(rung, OptionalInt.empty(), false);
  }
}
