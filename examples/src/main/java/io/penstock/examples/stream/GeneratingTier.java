package io.penstock.examples.stream;

import io.penstock.block.BlockDraft;
import io.penstock.block.BlockHash;
import io.penstock.block.BlockKey;
import io.penstock.block.CacheSpace;
import io.penstock.block.GranuleRange;
import io.penstock.block.SlabArena;
import io.penstock.examples.source.SeededBytes;
import io.penstock.tier.Medium;
import io.penstock.tier.Presence;
import io.penstock.tier.TierInfo;
import io.penstock.tier.spi.OnDemandTier;
import java.util.List;
import java.util.concurrent.atomic.AtomicLongArray;
import reactor.core.publisher.Mono;

/// Makes the blocks of endless streams, each when it is requested; the bytes are a function of the key.
final class GeneratingTier extends OnDemandTier {
  private final long seed;
  private final AtomicLongArray madeBytes;

  /// @param streams number of streams, numbered from 0
  /// @param windowBlocks most blocks made at a time
  GeneratingTier(CacheSpace space, SlabArena arena, long seed, int streams, int windowBlocks) {
    super(new TierInfo("generator", Medium.HOST, space, Long.MAX_VALUE), arena, windowBlocks);
    this.seed = seed;
    this.madeBytes = new AtomicLongArray(streams);
  }

  /// Names block `number` of `stream`.
  static BlockHash hash(int stream, long number) {
    return new BlockHash(stream, number);
  }

  /// Seed of the bytes of the block `key`.
  static long seedOf(long seed, BlockKey key) {
    return seed + key.hash().high() * 1_000_003 + key.hash().low() * 0x2545F4914F6CDD1DL;
  }

  /// Bytes made for `stream` so far.
  long madeBytes(int stream) {
    return madeBytes.get(stream);
  }

  @Override
  protected Mono<Presence> find(List<BlockKey> keys) {
    return Mono.fromSupplier(() -> where(keys, this::isBlock));
  }

  private boolean isBlock(BlockKey key) {
    return key.hash().high() >= 0 && key.hash().high() < madeBytes.length() && key.hash().low() >= 0;
  }

  @Override
  protected Mono<Boolean> fill(BlockDraft draft) {
    return Mono.fromSupplier(() -> {
      GranuleRange all = GranuleRange.all(draft.layout());
      draft.write(all, memory -> SeededBytes.fill(seedOf(seed, draft.key()), 0, memory));
      draft.produced(all);
      madeBytes.addAndGet((int) draft.key().hash().high(), draft.layout().blockBytes());
      return true;
    });
  }
}
