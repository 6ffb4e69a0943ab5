package io.penstock.node.replay;

import io.penstock.block.BlockArena;
import java.util.List;
import reactor.core.publisher.Mono;

/// The prefill party in this process. Its bytes in flight are those that it produced and nobody took yet; its arena
/// bounds them.
final class Prefiller implements PrefillParty {
  private final BlockSink sink;
  private final TraceKeys keys;
  private final BlockArena arena;

  /// @param arena where blocks are produced, for figures
  Prefiller(BlockSink sink, TraceKeys keys, BlockArena arena) {
    this.sink = sink;
    this.keys = keys;
    this.arena = arena;
  }

  @Override
  public Mono<Void> put(List<Long> ids) {
    return Mono.defer(() -> sink.put(keys.of(ids)));
  }

  @Override
  public Mono<PartyStat> stat() {
    return Mono.fromSupplier(() -> {
      long blockBytes = arena.layout().blockBytes();
      return new PartyStat(arena.claimedSlots() * blockBytes, arena.highWaterSlots() * blockBytes,
          arena.capacitySlots() * blockBytes,
          arena.claimedSlots());
    });
  }
}
