package io.penstock.wire;

import io.penstock.block.Block;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.carrier.NodeRing;
import io.penstock.tier.BlockTier;
import io.penstock.tier.OnMiss;
import java.util.List;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;

/// The blocks of a tier for a read ring: each that is found counts as a use.
///
/// @param draining whether the node refuses new work; a client hears of that over its connection
record TierBlocks(BlockTier tier, BooleanSupplier draining, Carried carried) implements NodeRing.Blocks {
  @Override
  public void find(BlockKey key, Consumer<@Nullable Block> found) {
    if (draining.getAsBoolean()) {
      found.accept(null);
      return;
    }
    Flux.using(BlockScope::new, scope -> tier.lease(List.of(key), OnMiss.SKIP, scope)
        .flatMapMany(lease -> lease.unverified().windows(1, scope)), BlockScope::close)
        .map(window -> Optional.of(window.getFirst().block().share()))
        .next().defaultIfEmpty(Optional.empty()).onErrorReturn(Optional.empty())
        .subscribe(block -> {
          block.ifPresent(each -> carried.count(each.layout().blockBytes(), true));
          found.accept(block.orElse(null));
        });
  }

  /// A get that compares, as any other.
  @Override
  public void damaged(BlockKey key) {
    Flux.using(BlockScope::new, scope -> tier.lease(List.of(key), OnMiss.SKIP, scope)
        .flatMapMany(lease -> lease.windows(1, scope)), BlockScope::close).onErrorComplete().subscribe();
  }
}
