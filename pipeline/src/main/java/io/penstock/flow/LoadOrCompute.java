package io.penstock.flow;

import static java.util.Objects.requireNonNull;

import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.block.LayerSlice;
import io.penstock.block.SliceShape;
import io.penstock.tier.BlockTier;
import io.penstock.tier.Lease;
import io.penstock.tier.OnMiss;
import java.util.List;
import java.util.function.Function;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/// Reads all blocks of a request layer by layer, whether the tier has them, another writer is just writing them, or
/// they are computed for this request: one decision of the tier says which is which.
public final class LoadOrCompute {
  /// Slices asked for ahead of the consumer while blocks are computed: two streams are then merged.
  private static final int PREFETCH = 32;

  private LoadOrCompute() {}

  /// | | |
  /// |---|---|
  /// | order | blocks that the tier has, then the others as they are committed; layer after layer in each window |
  /// | backpressure | slices; up to 32 are asked for ahead of demand while blocks are computed, else none |
  /// | ends | after the last slice and the end of `compute`; a writer that gives up leaves its keys out |
  /// | cancel | ends the lease and cancels `compute`; the scope frees slices not taken |
  /// | threads | the tier's, and those of `compute` |
  /// | signals | errors of the tier and of `compute` |
  ///
  /// @param compute hears of the decision, and answers what puts all admitted blocks into the tier: subscribed while
  ///     the others are read, if the lease admitted any. The stream waits for an admitted block that is never put; a
  ///     remote tier ends that wait with an error
  /// @param scope owns the slices emitted; close each when read
  public static Flux<LayerSlice> layers(BlockTier tier, List<BlockKey> keys, SliceShape shape,
      Function<? super Lease, ? extends Mono<Void>> compute, BlockScope scope) {
    requireNonNull(shape, "shape");
    requireNonNull(compute, "compute");
    return tier.lease(keys, OnMiss.ADMIT, scope).flatMapMany(lease -> {
      Flux<LayerSlice> slices = lease.slices(shape, scope);
      Mono<Void> computed = compute.apply(lease);
      return lease.admitted().count() == 0
          ? slices
          : Flux.merge(PREFETCH, slices, computed.then(Mono.<LayerSlice>empty()));
    });
  }
}
