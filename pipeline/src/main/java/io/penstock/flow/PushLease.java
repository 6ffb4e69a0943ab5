package io.penstock.flow;

import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.block.BlockView;
import io.penstock.block.LayerSlice;
import io.penstock.block.SliceShape;
import io.penstock.tier.Lease;
import io.penstock.tier.LeasedBlock;
import io.penstock.tier.Presence;
import java.util.BitSet;
import java.util.List;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/// A reader's right to the blocks of one request that is being computed, view by view.
final class PushLease extends Lease {
  private final List<BlockKey> keys;
  private final Presence awaited;
  private final Mono<Production> production;

  PushLease(List<BlockKey> keys, Presence awaited, Mono<Production> production) {
    this.keys = keys;
    this.awaited = awaited;
    this.production = production;
  }

  @Override
  public Presence hits() {
    return none();
  }

  @Override
  public Presence found() {
    return none();
  }

  @Override
  public Presence admitted() {
    return none();
  }

  @Override
  public Presence awaited() {
    return awaited;
  }

  /// Not supported in whole blocks: a reader of a push asks for a view.
  @Override
  public Flux<List<LeasedBlock>> windows(int maxBlocks, BlockScope scope) {
    return Flux.error(
        () -> new IllegalArgumentException("blocks of a push must be asked for as views (was for whole blocks)"));
  }

  @Override
  public Flux<LayerSlice> views(BlockView view, SliceShape shape, BlockScope scope) {
    return production.flatMapMany(begun -> begun.views(keys, view, shape, scope)).doFinally(end -> close());
  }

  private Presence none() {
    return Presence.of(keys.size(), new BitSet());
  }

  @Override
  protected void free() {}
}
