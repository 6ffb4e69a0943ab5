package io.penstock.node.replay;

import io.penstock.block.BlockDraft;
import io.penstock.block.BlockLayout;
import io.penstock.block.GranuleRange;
import io.penstock.block.LayerRange;

/// What prefill does instead of attention: makes the bytes of a draft, a layer at a time, and states their checksums
/// while they are still in the cache of the core that made them.
final class Production {
  private Production() {}

  /// Makes the bytes of `range` of `draft`.
  static void produce(BlockDraft draft, GranuleRange range) {
    BlockLayout layout = draft.layout();
    draft.write(range, memory -> KvPattern.fill(draft.key(), layout, range, memory));
    draft.produced(range);
  }

  /// Makes all layers of `draft`.
  static void produce(BlockDraft draft) {
    for (int layer = 0; layer < draft.layout().layers(); layer++) {
      produce(draft, GranuleRange.layers(draft.layout(), new LayerRange(layer, layer + 1)));
    }
  }
}
