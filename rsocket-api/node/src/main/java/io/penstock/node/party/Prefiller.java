package io.penstock.node.party;

import io.penstock.block.BlockArena;
import io.penstock.block.SliceShape;
import io.penstock.flow.OffloadPrefix;
import io.penstock.flow.ProducingSource;
import io.penstock.node.content.KvPattern;
import io.penstock.tier.BlockTier;
import io.penstock.tier.PutSource;
import java.util.List;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/// The prefill party in this process: computes layer after layer when the tier has room for a window. Its bytes in
/// flight are those that it produced and the tier has not taken; its arena bounds them.
final class Prefiller implements PrefillParty {
  private final BlockTier tier;
  private final SliceShape shape;
  private final TraceKeys keys;
  private final BlockArena arena;
  private final PutSource source;

  /// @param tier in this process, or a node behind a connection
  /// @param arena where blocks are produced
  Prefiller(BlockTier tier, SliceShape shape, TraceKeys keys, BlockArena arena) {
    this.tier = tier;
    this.shape = shape;
    this.keys = keys;
    this.arena = arena;
    this.source = new ProducingSource(arena, SliceShape.Order.LAYER_FIRST,
        (key, range, memory) -> KvPattern.fill(key, arena.layout(), range, memory));
  }

  @Override
  public Mono<Void> put(List<Long> ids) {
    return Flux.just(ids).map(keys::of).transform(OffloadPrefix.layers(tier, shape, source)).then();
  }

  @Override
  public Mono<PartyStat> stat() {
    return Mono.fromSupplier(() -> {
      long blockBytes = arena.layout().blockBytes();
      return new PartyStat(arena.claimedSlots() * blockBytes, arena.highWaterSlots() * blockBytes,
          arena.capacitySlots() * blockBytes,
          arena.claimedSlots());
    });
  }
}
