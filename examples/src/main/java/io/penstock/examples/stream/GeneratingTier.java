package io.penstock.examples.stream;

import io.penstock.block.BlockDraft;
import io.penstock.block.BlockHash;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.block.CacheSpace;
import io.penstock.block.GranuleRange;
import io.penstock.block.SlabArena;
import io.penstock.examples.source.DemandTier;
import io.penstock.examples.source.SeededBytes;
import io.penstock.tier.LeasedBlock;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLongArray;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/// Makes the blocks of endless streams, each when it is asked for; the bytes are a function of the key.
final class GeneratingTier extends DemandTier {
  private final long seed;
  private final int windowBlocks;
  private final AtomicLongArray madeBytes;

  /// @param streams number of streams, numbered from 0
  /// @param windowBlocks most blocks made at a time
  GeneratingTier(CacheSpace space, SlabArena arena, long seed, int streams, int windowBlocks) {
    super("generator", space, arena);
    this.seed = seed;
    this.windowBlocks = windowBlocks;
    this.madeBytes = new AtomicLongArray(streams);
  }

  /// Names block `number` of `stream`.
  static BlockHash hash(int stream, long number) {
    return new BlockHash(stream, number);
  }

  /// What the bytes of the block `key` are made from.
  static long seedOf(long seed, BlockKey key) {
    return seed + key.hash().high() * 1_000_003 + key.hash().low() * 0x2545F4914F6CDD1DL;
  }

  /// Bytes made for `stream` so far.
  long madeBytes(int stream) {
    return madeBytes.get(stream);
  }

  @Override
  protected boolean knows(BlockKey key) {
    return key.hash().high() >= 0 && key.hash().high() < madeBytes.length() && key.hash().low() >= 0;
  }

  @Override
  protected Flux<List<LeasedBlock>> make(List<BlockKey> keys, int maxBlocks, BlockScope scope) {
    int size = Math.min(maxBlocks, windowBlocks);
    return Flux.range(0, Math.ceilDiv(keys.size(), size))
        .concatMap(i -> window(i * size, keys.subList(i * size, Math.min(keys.size(), (i + 1) * size)), scope), 0);
  }

  private Mono<List<LeasedBlock>> window(int first, List<BlockKey> keys, BlockScope scope) {
    return claim(keys, scope).map(drafts -> {
      List<LeasedBlock> window = new ArrayList<>(drafts.size());
      for (int i = 0; i < drafts.size(); i++) {
        fill(drafts.get(i));
        window.add(new LeasedBlock(first + i, scope.adopt(drafts.get(i).seal())));
      }
      return window;
    });
  }

  private void fill(BlockDraft draft) {
    GranuleRange all = GranuleRange.all(draft.layout());
    draft.write(all, memory -> SeededBytes.fill(seedOf(seed, draft.key()), 0, memory));
    draft.produced(all);
    made(1);
    madeBytes.addAndGet((int) draft.key().hash().high(), draft.layout().blockBytes());
  }
}
