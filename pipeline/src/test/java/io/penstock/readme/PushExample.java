package io.penstock.readme;

import io.penstock.block.BlockDraft;
import io.penstock.flow.Production;
import io.penstock.flow.PushLayers;
import io.penstock.tier.BlockTier;
import java.util.List;
import reactor.core.scheduler.Scheduler;

/// The example of docs/moves.md.
final class PushExample {
  private PushExample() {}

  static void push(BlockTier tier, List<Scheduler> shards, String id, List<BlockDraft> drafts, int layers) {
    // README
    PushLayers push = new PushLayers(tier, shards); // the node serves it as its tier
    Production request = push.begin(id, drafts.size(), (block, granules) -> drafts.get(block).span(granules));
    Production.Chunk chunk = request.chunk(4); // the next four blocks of a chunked prefill
    for (int layer = 0; layer < layers; layer++) {
      chunk.ready(layer); // the bytes of this layer are written and final
    }
    request.end(); // no chunks follow
    // README
  }
}
