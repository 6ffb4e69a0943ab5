package io.penstock.node.replay;

import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.tier.BlockTier;
import java.util.List;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/// Produces straight into the drafts of a tier in this process, one window after the other.
final class TierSink implements BlockSink {
  private final BlockTier tier;
  private final int windowBlocks;

  TierSink(BlockTier tier, int windowBlocks) {
    this.tier = tier;
    this.windowBlocks = windowBlocks;
  }

  @Override
  public Mono<Void> put(List<BlockKey> keys) {
    return Flux.fromIterable(keys).buffer(windowBlocks).concatMap(this::window, 1).then();
  }

  private Mono<Void> window(List<BlockKey> keys) {
    return Mono.using(BlockScope::new, scope -> tier.reserve(keys, scope).flatMap(reservation -> {
      reservation.drafts().forEach(Production::produce);
      return reservation.commit(reservation.drafts());
    }).then(), BlockScope::close);
  }
}
