package io.penstock.examples.disaggregated.node;

import io.penstock.block.BlockKey;
import io.penstock.block.BlockView;
import io.penstock.block.CacheSpace;
import io.penstock.tier.OnMiss;
import io.penstock.tier.spi.ViewLanding;
import io.penstock.tier.spi.ViewLanding.Landed;
import io.penstock.tier.spi.ViewSource;
import java.util.List;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/// A source that reports landed layers to a clock.
///
/// @param source of one rank
/// @param clock of one request
record TimedSource(ViewSource source, LayerClock clock) implements ViewSource {
  @Override
  public CacheSpace space() {
    return source.space();
  }

  @Override
  public long generation() {
    return source.generation();
  }

  @Override
  public Mono<Void> drained() {
    return source.drained();
  }

  @Override
  public Flux<Landed> fetch(List<BlockKey> keys, OnMiss onMiss, ViewLanding landing) {
    return source.fetch(keys, onMiss, landing).doOnNext(this::record);
  }

  private void record(Landed landed) {
    BlockView part = landed.part();
    clock.landed(space().shard().firstLayer() + part.firstLayer(space().layout()), part.layers(space().layout()),
        landed.bytes());
  }
}
