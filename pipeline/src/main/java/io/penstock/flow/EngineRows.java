package io.penstock.flow;

import io.penstock.block.BlockLayout.TokenOrder;
import java.lang.foreign.MemorySegment;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Mono;

/// The KV cache of one session of an engine, row by row: all that an engine has to show to keep its cache in a tier.
///
/// [OffloadPrefix#rows] reads rows, and [LoadPrefix#rows] writes them, on threads of the tier, one call at a time.
/// Only layouts of order [TokenOrder#NHD] work; `HND` is refused.
///
/// [#row] is enough for an engine that loads before it computes, and offloads afterwards. An engine that computes
/// meanwhile, layer by layer, also says which layers are computed, and listens which ones are loaded.
@FunctionalInterface
public interface EngineRows {
  /// All heads of one token in one plane of one layer.
  ///
  /// @param plane its number in the layout, such as 0 for keys and 1 for values
  /// @param token its number in the prompt, from 0
  /// @return memory of the engine, exactly as long as a row of the layout ([io.penstock.block.BlockLayout#rowBytes]):
  ///     another length fails the load or the offload
  MemorySegment row(int layer, int plane, int token);

  /// Receives the length of the prefix that is being loaded, before its first row is written. Not called if the tier
  /// has no block of it. Runs on a thread of the tier, and must be quick.
  ///
  /// @param blocks above 0; the load writes all of their rows, or fails, or answers fewer blocks
  default void found(int blocks) {}

  /// Receives a layer of which the rows of all blocks found are written, verified and final. Runs on a thread of the
  /// tier, and must be quick. Layers come in order if the prefix fits into one window.
  default void loaded(int layer) {}

  /// Completes when `layer` of the first `tokens` tokens is computed: an offload reads these rows then, and not before.
  /// An error fails the offload. Subscribed by the offload, once for each window and layer; the thread that completes
  /// it copies and sends the rows.
  ///
  /// @param tokens a multiple of the tokens of a block
  default Publisher<?> computed(int layer, int tokens) {
    return Mono.empty();
  }
}
