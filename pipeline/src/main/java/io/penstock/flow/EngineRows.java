package io.penstock.flow;

import io.penstock.block.BlockLayout.TokenOrder;
import java.lang.foreign.MemorySegment;

/// The KV cache of one session of an engine, row by row: all that an engine has to show to keep its cache in a tier.
///
/// [OffloadPrefix#rows] reads rows, and [LoadPrefix#rows] writes them, on threads of the tier, one call at a time.
/// Only layouts of order [TokenOrder#NHD] work; `HND` is refused.
@FunctionalInterface
public interface EngineRows {
  /// All heads of one token in one plane of one layer.
  ///
  /// @param plane its number in the layout, such as 0 for keys and 1 for values
  /// @param token its number in the prompt, from 0
  /// @return memory of the engine, exactly as long as a row of the layout ([io.penstock.block.BlockLayout#rowBytes]):
  ///     another length fails the load or the offload
  MemorySegment row(int layer, int plane, int token);
}
