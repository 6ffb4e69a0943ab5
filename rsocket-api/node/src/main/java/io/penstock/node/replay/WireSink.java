package io.penstock.node.replay;

import io.penstock.block.BlockArena;
import io.penstock.block.BlockKey;
import io.penstock.block.SliceOrder;
import io.penstock.wire.KvClient;
import io.penstock.wire.ProducingSource;
import io.penstock.wire.PutSource;
import java.util.List;
import reactor.core.publisher.Mono;

/// Produces in an arena of its own, layer by layer, when the node behind a connection has room for a window, and streams it there.
final class WireSink implements BlockSink {
  private final KvClient client;
  private final PutSource source;

  WireSink(KvClient client, BlockArena arena) {
    this.client = client;
    this.source = new ProducingSource(arena, SliceOrder.LAYER_FIRST,
        (key, range, memory) -> KvPattern.fill(key, arena.layout(), range, memory));
  }

  @Override
  public Mono<Void> put(List<BlockKey> keys) {
    return client.put(keys, source).then();
  }
}
