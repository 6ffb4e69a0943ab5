package io.penstock.lab.bench.disk;

import static java.util.Objects.requireNonNull;

import io.penstock.block.Block;
import io.penstock.block.BlockDraft;
import io.penstock.block.BlockKey;
import io.penstock.block.CacheSpace;
import io.penstock.block.GranuleRange;
import io.penstock.block.PrefixHasher;
import io.penstock.block.SlabArena;
import io.penstock.storage.JournalStore;
import io.penstock.tier.spi.StoredBlock;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.IntConsumer;
import reactor.core.publisher.Mono;

/// A fixed number of blocks in a store, each under a key of its own, overwritten in random order.
final class LiveBlocks implements AutoCloseable {
  /// Slots: one for the block that is made, others for the blocks that are read.
  private static final int SLOTS = 1 + PacedReads.MOST;

  private final CacheSpace space;
  private final GranuleRange all;
  private final SlabArena arena;
  private final AtomicReferenceArray<LiveBlock> blocks;
  private final SplittableRandom random;
  private long made;

  LiveBlocks(CacheSpace space, int count, long seed) {
    this.space = space;
    this.all = GranuleRange.all(space.layout());
    this.arena = new SlabArena("bench", space.layout(), SLOTS, 1);
    this.blocks = new AtomicReferenceArray<>(count);
    this.random = new SplittableRandom(seed);
  }

  /// Puts all blocks for the first time.
  ///
  /// @param listener receives the number of blocks that are there
  void fill(JournalStore store, IntConsumer listener) {
    for (int i = 0; i < blocks.length(); i++) {
      blocks.set(i, new LiveBlock(put(store)));
      listener.accept(i + 1);
    }
  }

  /// Puts another in the place of one. One thread.
  void overwrite(JournalStore store) {
    blocks.getAndSet(random.nextInt(blocks.length()), new LiveBlock(put(store))).release();
  }

  private StoredBlock put(JournalStore store) {
    try (Block block = block(made++)) {
      return requireNonNull(store.put(List.of(block)).block(), "a put stores its block").getFirst();
    }
  }

  /// A block whose bytes are cheap to make and differ from those of all others.
  private Block block(long number) {
    BlockKey key = space.key(PrefixHasher.ofTraceId(number));
    BlockDraft draft = claim(key);
    draft.write(all, memory -> stamp(memory, number));
    draft.produced(all);
    return draft.seal();
  }

  private static void stamp(MemorySegment memory, long number) {
    for (long i = 0; i + Long.BYTES <= memory.byteSize(); i += 4096) {
      memory.set(ValueLayout.JAVA_LONG_UNALIGNED, i, number + i);
    }
  }

  private BlockDraft claim(BlockKey key) {
    return requireNonNull(arena.tryClaim(List.of(key)), "there is a slot for each").getFirst();
  }

  /// Reads the block at `index`, or the block that replaced it, and compares it.
  Mono<Void> read(JournalStore store, int index) {
    LiveBlock block = blocks.get(index);
    while (!block.retain()) {
      block = blocks.get(index);
    }
    LiveBlock held = block;
    BlockDraft draft = claim(held.stored().key());
    return store.read(List.of(held.stored()), List.of(draft), all).doFinally(end -> {
      draft.close();
      held.release();
    });
  }

  int count() {
    return blocks.length();
  }

  /// The journal was opened again: these are its blocks now.
  void found(List<StoredBlock> recovered) {
    if (recovered.size() != blocks.length()) {
      throw new IllegalStateException("blocks found must be " + blocks.length() + " (was " + recovered.size() + ")");
    }
    for (int i = 0; i < recovered.size(); i++) {
      blocks.set(i, new LiveBlock(recovered.get(i)));
    }
  }

  /// Releases all stored blocks; blocks of a closed store free nothing.
  void releaseAll() {
    for (int i = 0; i < blocks.length(); i++) {
      LiveBlock block = blocks.getAndSet(i, null);
      if (block != null) {
        block.release();
      }
    }
  }

  @Override
  public void close() {
    releaseAll();
    arena.close();
  }
}
