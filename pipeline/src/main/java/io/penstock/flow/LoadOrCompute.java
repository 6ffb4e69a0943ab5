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

/// Reads all blocks of a request layer by layer. One decision of the tier says which blocks it has, which ones another
/// writer is writing, and which ones are computed for this request.
public final class LoadOrCompute {
  /// Slices requested ahead of demand while blocks are computed, because two streams are merged then.
  private static final int PREFETCH = 32;

  private LoadOrCompute() {}

  /// | | |
  /// |---|---|
  /// | order | blocks that the tier has, then the others as they are committed; layer after layer in a window |
  /// | backpressure | slices; up to 32 are requested ahead of demand while blocks are computed, else none |
  /// | ends | after the last slice and the end of `compute`; the keys of a writer that gives up are left out |
  /// | cancel | ends the lease and cancels `compute`; the scope frees slices not taken |
  /// | threads | the tier's, and those of `compute` |
  /// | signals | errors of the tier and of `compute` |
  ///
  /// @param compute puts all blocks that the lease admitted into the tier. Subscribed while the other blocks are read,
  ///     if the lease admitted blocks. If an admitted block is never put, the stream waits; a remote tier ends that
  ///     wait with an error
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
