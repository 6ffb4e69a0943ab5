package io.penstock.wire.server.space;

import io.penstock.block.CacheSpace;
import io.penstock.tier.BlockTier;
import io.penstock.wire.security.Caller;
import java.util.List;
import reactor.core.publisher.Mono;

/// The spaces of a node that one user may know of.
record VisibleSpaces(NodeSpaces all, Caller caller) implements NodeSpaces {
  @Override
  public List<BlockTier> tiers() {
    return all.tiers().stream().filter(tier -> caller.role(tier.info().name()).isPresent()).toList();
  }

  @Override
  public Mono<BlockTier> open(CacheSpace space) {
    return areOpen() ? all.open(space) : Mono.empty();
  }

  @Override
  public boolean areOpen() {
    return all.areOpen() && caller.mayOpenSpaces();
  }
}
