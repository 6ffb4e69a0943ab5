package io.penstock.node.play;

import io.penstock.block.Block;
import io.penstock.block.BlockDraft;
import io.penstock.block.BlockKey;
import io.penstock.block.CacheSpace;
import io.penstock.block.GranuleRange;
import io.penstock.recording.Payloads;
import io.penstock.recording.Player.PlayedStoreSpec;
import io.penstock.recording.RecordedEvent.Kind;
import io.penstock.tier.Medium;
import io.penstock.tier.Receipt.Durability;
import io.penstock.tier.spi.BlockStore;
import io.penstock.tier.spi.StoredBlock;
import java.util.List;
import java.util.function.Consumer;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;

/// A store without bytes that answers after the latency of a recorded store, in virtual time. It never fails.
final class ModelStore implements BlockStore {
  private final PlayedStoreSpec spec;
  private final VirtualTime time;
  private final RecordedTimes times;
  private final Payloads payloads;
  private final List<BlockKey> recovered;
  private long readBytes;

  /// @param recovered keys of the blocks that it has from before
  ModelStore(PlayedStoreSpec spec, VirtualTime time, RecordedTimes times, Payloads payloads,
      List<BlockKey> recovered) {
    this.spec = spec;
    this.time = time;
    this.times = times;
    this.payloads = payloads;
    this.recovered = recovered;
  }

  long readBytes() {
    return readBytes;
  }

  private <T> Mono<T> later(Kind kind, BlockKey first, Consumer<MonoSink<T>> end) {
    return Mono.create(sink -> time.after(times.latency(spec.medium(), kind, first), () -> end.accept(sink)));
  }

  @Override
  public Mono<List<StoredBlock>> put(List<Block> blocks) {
    List<BlockKey> keys = blocks.stream().map(Block::key).toList();
    return later(Kind.STORE_PUT, keys.getFirst(),
        sink -> sink.success(keys.stream().<StoredBlock>map(Kept::new).toList()));
  }

  @Override
  public Mono<Void> read(List<? extends StoredBlock> blocks, List<BlockDraft> drafts, GranuleRange range) {
    return later(Kind.STORE_READ, blocks.getFirst().key(), sink -> {
      readBytes += blocks.size() * (long) range.bytes(spec.space().layout());
      drafts.forEach(draft -> payloads.fill(draft, range, Payloads.UNKNOWN));
      sink.success();
    });
  }

  @Override
  public List<StoredBlock> recovered() {
    return recovered.stream().<StoredBlock>map(Kept::new).toList();
  }

  @Override
  public String name() {
    return spec.name();
  }

  @Override
  public Medium medium() {
    return spec.medium();
  }

  @Override
  public CacheSpace space() {
    return spec.space();
  }

  @Override
  public Durability durability() {
    return spec.durability();
  }

  @Override
  public long capacityBlocks() {
    return spec.capacityBlocks();
  }

  @Override
  public Mono<Void> close() {
    return Mono.empty();
  }

  private static final class Kept extends StoredBlock {
    Kept(BlockKey key) {
      super(key);
    }

    @Override
    protected void free() {
      // Holds nothing
    }
  }
}
