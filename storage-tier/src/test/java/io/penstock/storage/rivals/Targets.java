package io.penstock.storage.rivals;

import static java.util.Objects.requireNonNull;

import io.penstock.block.BlockDraft;
import io.penstock.block.BlockKey;
import io.penstock.block.SlabArena;
import io.penstock.testkit.Blocks;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;

/// Drafts that one reader reads into, one batch at a time, in rotation over the memory that the contest gives a reader.
final class Targets implements AutoCloseable {
  private final Sources sources;
  private final SlabArena arena;
  /// Done with, oldest first: their memory is used next.
  private final ArrayDeque<BlockDraft> used = new ArrayDeque<>();

  Targets(Contest contest, Sources sources) {
    this.sources = sources;
    int count = (int) Math.max(contest.batchBlocks(), contest.intoBytes() / contest.blockBytes());
    this.arena = new SlabArena("targets", contest.space().layout(), count, 1);
    for (int i = 0; i < count; i++) { // touched once
      used.add(Blocks.produce(Blocks.draft(arena, Blocks.key(contest.space(), i))));
    }
  }

  /// Drafts for the blocks of these numbers, in the memory that was used longest ago.
  List<BlockDraft> drafts(int[] numbers) {
    List<BlockKey> keys = new ArrayList<>(numbers.length);
    for (int number : numbers) {
      used.remove().close();
      keys.add(sources.block(number).key());
    }
    return requireNonNull(arena.tryClaim(keys), "as many as were closed");
  }

  /// These were read.
  void done(List<BlockDraft> drafts) {
    used.addAll(drafts);
  }

  @Override
  public void close() {
    used.forEach(BlockDraft::close);
    arena.close();
  }
}
