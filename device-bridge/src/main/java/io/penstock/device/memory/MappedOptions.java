package io.penstock.device.memory;

import static java.util.Objects.requireNonNull;

import io.penstock.system.NativeMemory;
import java.util.OptionalInt;

/// Options of mapped host memory.
///
/// @param pages allowed kinds of pages
/// @param lock whether to keep the memory out of swap; a refusal leaves it unlocked
/// @param node preferred NUMA node; empty for none
public record MappedOptions(MemoryPages pages, boolean lock, OptionalInt node) {
  public MappedOptions {
    requireNonNull(pages, "pages");
    requireNonNull(node, "node");
    if (node.isPresent() && (node.getAsInt() < 0 || node.getAsInt() >= NativeMemory.MOST_NODES)) {
      throw new IllegalArgumentException(
          "node must be in [0, " + NativeMemory.MOST_NODES + ") (was " + node.getAsInt() + ")");
    }
  }

  /// The largest pages there are, not locked, on any node.
  public static MappedOptions defaults() {
    return new MappedOptions(MemoryPages.AUTO, false, OptionalInt.empty());
  }

  public MappedOptions withPages(MemoryPages pages) {
    return new MappedOptions(pages, lock, node);
  }

  public MappedOptions withLock(boolean lock) {
    return new MappedOptions(pages, lock, node);
  }

  public MappedOptions withNode(OptionalInt node) {
    return new MappedOptions(pages, lock, node);
  }
}
