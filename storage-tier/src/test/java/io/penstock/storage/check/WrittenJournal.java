package io.penstock.storage.check;

import io.penstock.block.Block;
import io.penstock.block.CacheSpace;
import io.penstock.block.SlabArena;
import io.penstock.storage.EngineKind;
import io.penstock.storage.JournalOptions;
import io.penstock.storage.JournalStore;
import io.penstock.testkit.Blocks;
import java.nio.file.Path;
import java.util.List;

/// A journal of some runs, each of which wrote blocks into a segment of its own.
final class WrittenJournal {
  static final CacheSpace SPACE = Blocks.smallSpace();

  private WrittenJournal() {}

  /// @param blocks of each run; as many slots are in `arena`
  static void write(Path journal, EngineKind engine, SlabArena arena, int runs, int blocks) {
    for (int run = 0; run < runs; run++) {
      JournalStore store =
          JournalStore.open(SPACE, JournalOptions.defaults(journal).withEngine(engine).withSegmentBytes(1 << 20));
      List<Block> batch = Blocks.keys(SPACE, (long) run * blocks, (run + 1L) * blocks).stream()
          .map(key -> Blocks.block(arena, key)).toList();
      store.put(batch).block();
      batch.forEach(Block::close);
      store.close().block();
    }
  }
}
