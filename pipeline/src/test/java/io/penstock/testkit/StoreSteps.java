package io.penstock.testkit;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.block.Block;
import io.penstock.block.BlockDraft;
import io.penstock.block.BlockKey;
import io.penstock.block.CacheSpace;
import io.penstock.block.GranuleRange;
import io.penstock.tier.spi.BlockStore;
import io.penstock.tier.spi.StoredBlock;
import java.time.Duration;
import java.util.List;

/// What the parts of [BlockStoreContract] do with a store.
interface StoreSteps {
  CacheSpace SPACE = Blocks.smallSpace();
  GranuleRange GRANULES = GranuleRange.all(SPACE.layout());
  List<BlockKey> ALL = Blocks.keys(SPACE, 0, 1000);
  /// How long anything may take.
  Duration PATIENCE = Duration.ofSeconds(30);
  int PLACES = 64;

  /// Knows the stores under test.
  BlockStoreContract contract();

  /// Opens a store that is closed after the test.
  default BlockStore open(int capacityBlocks) {
    return contract().watched(contract().openStore(capacityBlocks));
  }

  default List<Block> blocks(int from, int to) {
    return ALL.subList(from, to).stream().map(key -> Blocks.block(contract().arena, key)).toList();
  }

  default List<StoredBlock> put(BlockStore store, int from, int to) {
    List<Block> blocks = blocks(from, to);
    try {
      return requireNonNull(store.put(blocks).block(PATIENCE));
    } finally {
      blocks.forEach(Block::close);
    }
  }

  default List<BlockDraft> drafts(List<? extends StoredBlock> stored) {
    return requireNonNull(contract().arena.tryClaim(keysOf(stored)), "arena is full");
  }

  default List<BlockKey> keysOf(List<? extends StoredBlock> stored) {
    return stored.stream().map(StoredBlock::key).toList();
  }

  default void assertReadable(BlockStore store, List<? extends StoredBlock> stored) {
    List<BlockDraft> drafts = drafts(stored);
    try {
      store.read(stored, drafts, GRANULES).block(PATIENCE);
      assertWhole(drafts);
    } finally {
      drafts.forEach(BlockDraft::close);
    }
  }

  default void assertWhole(List<BlockDraft> drafts) {
    for (BlockDraft draft : drafts) {
      try (Block block = draft.seal()) {
        Blocks.assertBytes(block);
      }
    }
  }

  /// Closes `store` and waits until it keeps at most `blocks` blocks: one that was dropped may be freed a moment later.
  default void assertStored(BlockStore store, long blocks) {
    store.close().block(PATIENCE);
    Eventually.holds("the blocks are stored", () -> contract().storedBlocks(store) == blocks);
    assertThat(contract().storedBlocks(store)).isEqualTo(blocks);
  }
}
