package io.penstock.flow;

import io.penstock.block.BlockKey;
import io.penstock.block.GranuleRange;
import java.lang.foreign.MemorySegment;

/// Computes the bytes of a part of a block.
@FunctionalInterface
public interface GranuleWriter {
  /// Fills `to`, whose length is that of `range`, with the bytes of `range` of the block `key`.
  void write(BlockKey key, GranuleRange range, MemorySegment to);
}
