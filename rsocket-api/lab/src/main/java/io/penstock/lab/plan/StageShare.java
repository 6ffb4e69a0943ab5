package io.penstock.lab.plan;

import io.penstock.check.Checks;
import java.util.ArrayList;
import java.util.List;

/// The part of a block's buffers that belongs to one pipeline stage of the producer. A consumer that has all layers in
/// one stage writes a block back under one key for each stage of the producer.
///
/// @param key of the stage
/// @param from first buffer
/// @param to buffer after the last
public record StageShare(PoolKey key, int from, int to) {
  /// @param key of the block, of any stage
  /// @param stageLayers layers of each stage of the producer
  /// @param buffers of the block, in the order of the layers, the same number for each layer
  public static List<StageShare> of(PoolKey key, List<Integer> stageLayers, int buffers) {
    int layers = stageLayers.stream().mapToInt(Integer::intValue).sum();
    if (Checks.positive("layers", layers) > buffers || buffers % layers != 0) {
      throw new IllegalArgumentException(
          "buffers must be a multiple of %d layers (was %d)".formatted(layers, buffers));
    }
    List<StageShare> shares = new ArrayList<>();
    int from = 0;
    for (int stage = 0; stage < stageLayers.size(); stage++) {
      int to = from + stageLayers.get(stage) * (buffers / layers);
      shares.add(new StageShare(key.withStage(stage), from, to));
      from = to;
    }
    return shares;
  }
}
