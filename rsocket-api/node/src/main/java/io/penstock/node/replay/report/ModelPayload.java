package io.penstock.node.replay.report;

import io.penstock.block.BlockLayout;
import java.util.Map;

/// What a replay moves for a block of the model: one payload, or one for each KV group.
///
/// @param bytes of all payloads of a block; a state, which stands for several blocks, counts by its part
/// @param layers of all payloads
/// @param modelBytesByTier bytes of a block of the model on each tier; empty where they are alike
public record ModelPayload(int bytes, int layers, Map<String, Long> modelBytesByTier) {
  /// One payload.
  public static ModelPayload of(BlockLayout layout) {
    return new ModelPayload(layout.blockBytes(), layout.layers(), Map.of());
  }
}
