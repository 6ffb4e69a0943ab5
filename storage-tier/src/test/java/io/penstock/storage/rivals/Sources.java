package io.penstock.storage.rivals;

import static java.util.Objects.requireNonNull;

import io.penstock.block.Block;
import io.penstock.block.BlockDraft;
import io.penstock.block.BlockKey;
import io.penstock.block.CacheSpace;
import io.penstock.block.GranuleRange;
import io.penstock.block.LayerSpan;
import io.penstock.block.SlabArena;
import io.penstock.testkit.Blocks;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;

/// Sealed blocks to be put, and drafts to read into: more of both than a processor's caches hold, in rotation.
final class Sources implements AutoCloseable {
  private static final int BYTES = 64 << 20;

  private final CacheSpace space;
  private final SlabArena arena;
  private final List<Block> blocks = new ArrayList<>();
  /// Done with, oldest first: their memory is used next.
  private final ArrayDeque<BlockDraft> used = new ArrayDeque<>();

  Sources(Contest contest) {
    this.space = contest.space();
    int count = Math.max(contest.batchBlocks(), BYTES / contest.blockBytes());
    this.arena = new SlabArena("rivals", space.layout(), 2 * count, 1);
    for (int i = 0; i < count; i++) {
      blocks.add(Blocks.block(arena, key(i)));
    }
    for (int i = 0; i < count; i++) { // touched once
      used.add(Blocks.produce(Blocks.draft(arena, key(i))));
    }
  }

  private BlockKey key(int number) {
    return Blocks.key(space, number);
  }

  /// The blocks of the batch with this number.
  List<Block> batch(int number, int size) {
    List<Block> batch = new ArrayList<>(size);
    for (int i = 0; i < size; i++) {
      batch.add(blocks.get((number * size + i) % blocks.size()));
    }
    return batch;
  }

  /// Drafts for the blocks of these numbers, in the memory that was used longest ago.
  synchronized List<BlockDraft> drafts(int[] numbers) {
    List<BlockKey> keys = new ArrayList<>(numbers.length);
    for (int number : numbers) {
      used.remove().close();
      keys.add(blocks.get(number % blocks.size()).key());
    }
    return requireNonNull(arena.tryClaim(keys), "as many as were closed");
  }

  /// These were read.
  synchronized void done(List<BlockDraft> drafts) {
    used.addAll(drafts);
  }

  /// Compares every byte of a draft with those that were put under its key.
  void check(BlockDraft draft) {
    draft.produced(GranuleRange.all(space.layout()));
    try (LayerSpan read = draft.span(GranuleRange.all(space.layout()))) {
      Blocks.assertBytes(read);
    }
  }

  @Override
  public void close() {
    blocks.forEach(Block::close);
    used.forEach(BlockDraft::close);
    arena.close();
  }
}
