package io.penstock.node.replay;

import io.penstock.block.BlockArena;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.block.SliceOrder;
import io.penstock.tier.ByteBudget;
import io.penstock.wire.KvClient;
import io.penstock.flow.ProducingSource;
import io.penstock.tier.PutSource;
import java.util.List;
import reactor.core.publisher.Mono;

/// Produces in an arena of its own, layer by layer, when the node behind a connection has room for a window, and
/// streams it there.
///
/// Puts beyond those that the arena can serve at one time wait in line, first come, first served; cancelling one leaves
/// the line.
final class WireSink implements BlockSink {
  private final KvClient client;
  private final PutSource source;
  private final ByteBudget puts;

  /// @param arena where blocks are produced
  /// @param puts as many units as there may be puts under way; each takes one
  WireSink(KvClient client, BlockArena arena, ByteBudget puts) {
    this.client = client;
    this.puts = puts;
    this.source = new ProducingSource(arena, SliceOrder.LAYER_FIRST,
        (key, range, memory) -> KvPattern.fill(key, arena.layout(), range, memory));
  }

  @Override
  public Mono<Void> put(List<BlockKey> keys) {
    return Mono.using(BlockScope::new, scope -> puts.acquire(1, scope).flatMap(turn -> client.put(keys, source).then()),
        BlockScope::close);
  }
}
