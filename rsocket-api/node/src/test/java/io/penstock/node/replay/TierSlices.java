package io.penstock.node.replay;

import io.penstock.block.BlockKey;
import io.penstock.block.BlockLayout;
import io.penstock.block.BlockScope;
import io.penstock.block.LayerSlice;
import io.penstock.block.LayerSpan;
import io.penstock.block.SliceOrder;
import io.penstock.block.SlicePosition;
import io.penstock.block.SlicePlan;
import io.penstock.tier.BlockTier;
import io.penstock.tier.Lease;
import io.penstock.tier.LeasedBlock;
import io.penstock.tier.OnMiss;
import java.util.ArrayList;
import java.util.List;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/// Slices of a tier in this process: each window of a lease, cut layer by layer.
///
/// | | |
/// |---|---|
/// | backpressure | one window is held at a time; its slices follow demand |
/// | cancel | ends the lease |
final class TierSlices implements SliceSource {
  private final BlockTier tier;
  private final int windowBlocks;
  private final int maxSliceBytes;

  TierSlices(BlockTier tier, int windowBlocks, int maxSliceBytes) {
    this.tier = tier;
    this.windowBlocks = windowBlocks;
    this.maxSliceBytes = maxSliceBytes;
  }

  @Override
  public Mono<SliceLease> lease(List<BlockKey> keys, BlockScope scope) {
    return tier.lease(keys, OnMiss.ADMIT, scope)
        .map(lease -> new SliceLease(lease.hits(), lease.admitted(), slices(lease, scope)));
  }

  private Flux<LayerSlice> slices(Lease lease, BlockScope scope) {
    BlockLayout layout = tier.info().space().layout();
    return lease.windows(windowBlocks, scope).concatMap(
        window -> Flux.fromIterable(SlicePlan.of(layout, window.size(), 0, maxSliceBytes, SliceOrder.LAYER_FIRST))
            .map(cut -> scope.adopt(slice(window, cut)))
            .doFinally(end -> window.forEach(leased -> leased.block().close())),
        1);
  }

  private static LayerSlice slice(List<LeasedBlock> window, SlicePlan.Cut cut) {
    int[] positions = new int[cut.blocks()];
    List<LayerSpan> spans = new ArrayList<>(cut.blocks());
    try {
      for (int i = 0; i < cut.blocks(); i++) {
        LeasedBlock leased = window.get(cut.firstBlock() + i);
        positions[i] = leased.position();
        spans.add(leased.block().span(cut.range()));
      }
      return new LayerSlice(new SlicePosition(0, 0), cut.range(), positions, spans);
    } catch (RuntimeException e) {
      spans.forEach(LayerSpan::close);
      throw e;
    }
  }
}
