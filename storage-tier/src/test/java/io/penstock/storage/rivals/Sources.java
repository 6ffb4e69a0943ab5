package io.penstock.storage.rivals;

import io.penstock.block.Block;
import io.penstock.block.SlabArena;
import io.penstock.testkit.Blocks;
import java.util.ArrayList;
import java.util.List;

/// Sealed blocks to be put: more than a processor's caches hold, in rotation.
final class Sources implements AutoCloseable {
  private static final int BYTES = 64 << 20;

  private final SlabArena arena;
  private final List<Block> blocks = new ArrayList<>();

  Sources(Contest contest) {
    int count = Math.max(contest.batchBlocks(), BYTES / contest.blockBytes());
    this.arena = new SlabArena("sources", contest.space().layout(), count, 1);
    for (int i = 0; i < count; i++) {
      blocks.add(Blocks.block(arena, Blocks.key(contest.space(), i)));
    }
  }

  /// The blocks of the batch with this number.
  List<Block> batch(int number, int size) {
    List<Block> batch = new ArrayList<>(size);
    for (int i = 0; i < size; i++) {
      batch.add(block(number * size + i));
    }
    return batch;
  }

  /// The block that is put with this number.
  Block block(int number) {
    return blocks.get(number % blocks.size());
  }

  @Override
  public void close() {
    blocks.forEach(Block::close);
    arena.close();
  }
}
