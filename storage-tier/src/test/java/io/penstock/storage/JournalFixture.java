package io.penstock.storage;

import static java.util.Objects.requireNonNull;

import io.penstock.block.Block;
import io.penstock.block.BlockDraft;
import io.penstock.block.BlockKey;
import io.penstock.block.CacheSpace;
import io.penstock.block.GranuleRange;
import io.penstock.block.SlabArena;
import io.penstock.testkit.Blocks;
import io.penstock.testkit.LeakLedger;
import io.penstock.tier.spi.StoredBlock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.extension.RegisterExtension;

/// Journals of one space, closed after each test, and what is done with all of them.
abstract class JournalFixture {
  static final Duration PATIENCE = Duration.ofSeconds(30);
  private static final int BATCH = 500;

  @RegisterExtension
  final LeakLedger leaks = new LeakLedger();

  final SlabArena arena;
  private final CacheSpace space;
  private final List<JournalStore> opened = new ArrayList<>();

  JournalFixture(CacheSpace space) {
    this.space = space;
    this.arena = leaks.watch(new SlabArena("host", space.layout(), 4096, 4));
  }

  /// Has `store` closed after the test.
  final JournalStore closing(JournalStore store) {
    opened.add(store);
    return store;
  }

  @AfterEach
  void closeAll() {
    opened.forEach(store -> store.close().block(PATIENCE));
    opened.clear();
  }

  final List<StoredBlock> put(JournalStore store, long from, long to) {
    List<Block> blocks = Blocks.keys(space, from, to).stream().map(key -> Blocks.block(arena, key)).toList();
    try {
      return requireNonNull(store.put(blocks).block(PATIENCE));
    } finally {
      blocks.forEach(Block::close);
    }
  }

  final void assertReadable(JournalStore store, List<? extends StoredBlock> stored) {
    for (int from = 0; from < stored.size(); from += BATCH) {
      List<? extends StoredBlock> part = stored.subList(from, Math.min(stored.size(), from + BATCH));
      List<BlockDraft> drafts = requireNonNull(arena.tryClaim(part.stream().map(StoredBlock::key).toList()));
      store.read(part, drafts, GranuleRange.all(space.layout())).block(PATIENCE);
      for (BlockDraft draft : drafts) {
        try (Block block = draft.seal()) {
          Blocks.assertBytes(block);
        }
      }
    }
  }

  static List<BlockKey> keys(List<? extends StoredBlock> stored) {
    return stored.stream().map(StoredBlock::key).toList();
  }
}
