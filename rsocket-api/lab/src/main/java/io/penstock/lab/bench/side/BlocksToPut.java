package io.penstock.lab.bench.side;

import static java.util.Objects.requireNonNull;

import io.penstock.block.Block;
import io.penstock.block.BlockDraft;
import io.penstock.block.BlockKey;
import io.penstock.block.GranuleRange;
import io.penstock.block.SlabArena;
import io.penstock.block.SlabArena.ChunkSource;
import io.penstock.block.SliceShape;
import io.penstock.tier.PutSource;
import java.util.ArrayList;
import java.util.List;

/// Blocks that were made before the time is taken, and are put from memory.
final class BlocksToPut implements AutoCloseable {
  private final SlabArena arena;
  private final List<List<Block>> lists = new ArrayList<>();

  /// Makes the blocks.
  ///
  /// @param keys of the blocks of each put
  BlocksToPut(BenchBlocks made, List<List<BlockKey>> keys, ChunkSource chunks) {
    this.arena = new SlabArena("to put", made.space().layout(), keys.stream().mapToInt(List::size).sum(), 1, chunks);
    try {
      keys.forEach(list -> lists.add(made(made, list)));
    } catch (RuntimeException | Error e) { // the system has no memory for so many
      close();
      throw e;
    }
  }

  private List<Block> made(BenchBlocks made, List<BlockKey> keys) {
    GranuleRange all = GranuleRange.all(made.space().layout());
    List<Block> blocks = new ArrayList<>(keys.size());
    for (BlockDraft draft : requireNonNull(arena.tryClaim(keys), "the arena has room for all")) {
      draft.write(all, memory -> made.write(draft.key(), all, memory));
      draft.produced(all);
      blocks.add(draft.seal());
    }
    return blocks;
  }

  /// Gives the blocks of the `number`-th put.
  PutSource source(int number) {
    return PutSource.of(lists.get(number), SliceShape.Order.LAYER_FIRST);
  }

  @Override
  public void close() {
    lists.forEach(blocks -> blocks.forEach(Block::close));
    arena.close();
  }
}
