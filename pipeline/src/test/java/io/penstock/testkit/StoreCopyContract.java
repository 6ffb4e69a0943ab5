package io.penstock.testkit;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.block.Block;
import io.penstock.block.BlockCorruptException;
import io.penstock.block.BlockDraft;
import io.penstock.block.BlockKey;
import io.penstock.block.GranuleRange;
import io.penstock.block.LayerSpan;
import io.penstock.tier.spi.BlockStore;
import io.penstock.tier.spi.StoredBlock;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;

/// What a [BlockStore] promises of bytes that go in and come out: all of them, verified, and no others.
interface StoreCopyContract extends StoreSteps {
  @Test
  default void put_thenRead_givesEveryByteBack() {
    BlockStore store = open(PLACES);
    List<StoredBlock> stored = put(store, 0, PLACES);
    assertThat(keysOf(stored)).isEqualTo(ALL.subList(0, PLACES));
    assertReadable(store, stored);
    assertReadable(store, stored.reversed().subList(3, 20));
    assertThat(store.capacityBlocks()).isGreaterThanOrEqualTo(PLACES);
    assertThat(store.space()).isEqualTo(SPACE);
    stored.forEach(StoredBlock::close);
  }

  @Test
  default void read_granuleByGranule_givesTheWhole() {
    BlockStore store = open(PLACES);
    List<StoredBlock> stored = put(store, 0, 5);
    List<BlockDraft> drafts = drafts(stored);
    for (int granule = 0; granule < SPACE.layout().granules(); granule++) {
      assertThat(drafts).noneMatch(BlockDraft::isComplete);
      store.read(stored, drafts, GranuleRange.whole(granule, 1)).block(PATIENCE);
    }
    assertWhole(drafts);
    stored.forEach(StoredBlock::close);
  }

  @Test
  default void read_ofAPart_statesThatPartOnly() {
    BlockStore store = open(PLACES);
    List<StoredBlock> stored = put(store, 0, 3);
    List<BlockDraft> drafts = drafts(stored);
    GranuleRange middle = GranuleRange.whole(1, 2);
    store.read(stored, drafts, middle).block(PATIENCE);
    for (BlockDraft draft : drafts) {
      assertThat(draft.unverified(GRANULES)).containsExactly(GranuleRange.whole(0, 1), GranuleRange.whole(3, 1));
      try (LayerSpan span = draft.span(middle)) {
        Blocks.assertBytes(span);
      }
    }
    drafts.forEach(BlockDraft::close);
    stored.forEach(StoredBlock::close);
  }

  @Test
  default void putAndRead_areCold() {
    BlockStore store = open(2);
    List<Block> blocks = blocks(0, 2);
    Mono<List<StoredBlock>> never = store.put(blocks);
    List<StoredBlock> stored = requireNonNull(store.put(blocks).block(PATIENCE));
    assertThat(never).isNotNull();
    blocks.forEach(Block::close);
    List<BlockDraft> drafts = drafts(stored);
    Mono<Void> unread = store.read(stored, drafts, GRANULES);
    assertThat(unread).isNotNull();
    assertThat(drafts).noneMatch(BlockDraft::isComplete);
    drafts.forEach(BlockDraft::close);
    assertStored(store, 2);
  }

  @Test
  default void nothing_isPutAndReadAsNothing() {
    BlockStore store = open(1);
    assertThat(store.put(List.of()).block(PATIENCE)).isEmpty();
    store.read(List.of(), List.of(), GRANULES).block(PATIENCE);
  }

  @Test
  default void put_ofACorruptBlock_namesItAndLeavesNothing() {
    BlockStore store = open(3);
    List<Block> blocks = blocks(0, 3);
    Blocks.corrupt(blocks.get(1), 70);
    assertCorrupt(store.put(blocks).toFuture(), ALL.get(1));
    blocks.forEach(Block::close);
    List<StoredBlock> stored = put(store, 3, 6);
    assertReadable(store, stored);
    assertStored(store, 3);
  }

  @Test
  default void read_ofADamagedBlock_namesItAndStatesNothingOfIt() {
    BlockStore store = open(PLACES);
    List<Block> blocks = blocks(0, 4);
    List<StoredBlock> stored = contract().putDamaged(store, blocks, 2, 70);
    blocks.forEach(Block::close);
    List<BlockDraft> drafts = drafts(stored);
    assertCorrupt(store.read(stored, drafts, GRANULES).toFuture(), ALL.get(2));
    assertThat(drafts.get(2).isComplete()).isFalse();
    drafts.forEach(BlockDraft::close);
    assertReadable(store, List.of(stored.get(0), stored.get(1), stored.get(3)));
    stored.forEach(StoredBlock::close);
  }

  @Test
  default void read_besideTheDamage_succeeds() {
    BlockStore store = open(PLACES);
    List<Block> blocks = blocks(0, 1);
    List<StoredBlock> stored = contract().putDamaged(store, blocks, 0, 70);
    blocks.forEach(Block::close);
    List<BlockDraft> drafts = drafts(stored);
    store.read(stored, drafts, GranuleRange.whole(2, 2)).block(PATIENCE);
    assertCorrupt(store.read(stored, drafts, GranuleRange.whole(0, 2)).toFuture(), ALL.get(0));
    assertThat(drafts.getFirst().isComplete()).isFalse();
    drafts.forEach(BlockDraft::close);
    stored.forEach(StoredBlock::close);
  }

  private static void assertCorrupt(CompletableFuture<?> copy, BlockKey key) {
    assertThatThrownBy(() -> copy.get(PATIENCE.toSeconds(), TimeUnit.SECONDS)).cause()
        .isInstanceOfSatisfying(BlockCorruptException.class, e -> assertThat(e.key()).isEqualTo(key));
  }
}
