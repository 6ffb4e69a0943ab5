package io.penstock.tier;

import io.penstock.block.BlockScope;
import io.penstock.block.BlockView;
import io.penstock.block.GranuleRange;
import io.penstock.block.LayerSlice;
import io.penstock.block.LayerSpan;
import io.penstock.block.SliceShape;
import io.penstock.tier.slice.SlicePlan;
import io.penstock.tier.slice.ViewPlan;
import java.util.List;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/// A window of blocks in host memory.
public final class ReadyWindow extends LeasedWindow implements SlicePlan.Spans {
  private final List<LeasedBlock> blocks;
  private final SliceShape shape;

  public ReadyWindow(List<LeasedBlock> blocks, SliceShape shape) {
    this.blocks = blocks;
    this.shape = shape;
  }

  @Override
  public int size() {
    return blocks.size();
  }

  @Override
  protected Flux<LayerSlice> transferred(int number) {
    List<SlicePlan.Cut> cuts = SlicePlan.of(blocks.getFirst().block().layout(), blocks.size(), shape.startLayer(),
        shape.sliceBytes(), shape.order());
    return Flux.from(subscriber -> {
      ReadySlices slices = new ReadySlices(subscriber, this, cuts, number);
      subscriber.onSubscribe(slices);
      slices.open();
    });
  }

  /// The slices of a view of each block.
  Flux<LayerSlice> views(int number, BlockView view) {
    return Flux.defer(() -> {
      ViewPlan plan = new ViewPlan(blocks.size(), view, blocks.getFirst().block().layout(), shape);
      return Flux.range(0, plan.size()).map(i -> plan.slice(i, number, this));
    }).doFinally(end -> close());
  }

  @Override
  public int position(int i) {
    return blocks.get(i).position();
  }

  @Override
  public LayerSpan span(int i, GranuleRange range) {
    return blocks.get(i).block().span(range);
  }

  @Override
  public Mono<List<LeasedBlock>> blocks(BlockScope scope) {
    return Mono.fromCallable(() -> handOver(scope));
  }

  /// Gives the blocks to `scope`, one by one; the window is over.
  public List<LeasedBlock> handOver(BlockScope scope) {
    if (!markClosed()) {
      throw closed();
    }
    blocks.forEach(leased -> scope.adopt(leased.block()));
    over();
    return blocks;
  }

  @Override
  protected void free() {
    blocks.forEach(leased -> leased.block().close());
    over();
  }
}
