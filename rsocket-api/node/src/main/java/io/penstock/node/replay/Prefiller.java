package io.penstock.node.replay;

import io.penstock.block.BlockArena;
import io.penstock.block.Permits;
import java.util.List;
import reactor.core.publisher.Mono;

/// The prefill party in this process.
final class Prefiller implements PrefillParty {
  private final BlockSink sink;
  private final TraceKeys keys;
  private final BlockArena arena;
  private final Permits budget;

  /// @param arena where blocks are produced, for figures
  /// @param budget of bytes in flight, for figures
  Prefiller(BlockSink sink, TraceKeys keys, BlockArena arena, Permits budget) {
    this.sink = sink;
    this.keys = keys;
    this.arena = arena;
    this.budget = budget;
  }

  @Override
  public Mono<Void> put(List<Long> ids) {
    return Mono.defer(() -> sink.put(keys.of(ids)));
  }

  @Override
  public Mono<PartyStat> stat() {
    return Mono.fromSupplier(() -> new PartyStat(budget.inUse(), budget.peak(), budget.capacity(), arena.claimedSlots()));
  }
}
