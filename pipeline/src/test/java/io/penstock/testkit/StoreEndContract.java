package io.penstock.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.block.Block;
import io.penstock.block.BlockDraft;
import io.penstock.tier.TierClosedException;
import io.penstock.tier.spi.BlockStore;
import io.penstock.tier.spi.StoredBlock;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.BaseSubscriber;

/// What a [BlockStore] promises when it closes, and when those leave who asked it for something.
interface StoreEndContract extends StoreSteps {
  @Test
  default void closed_refusesAndClosesTwice() {
    BlockStore store = open(2);
    List<StoredBlock> stored = put(store, 0, 1);
    store.close().block(PATIENCE);
    store.close().block(PATIENCE);
    List<Block> blocks = blocks(1, 2);
    assertThatThrownBy(() -> store.put(blocks).block(PATIENCE)).isInstanceOf(TierClosedException.class)
        .hasMessageContaining(store.name());
    blocks.forEach(Block::close);
    List<BlockDraft> drafts = drafts(stored);
    assertThatThrownBy(() -> store.read(stored, drafts, GRANULES).block(PATIENCE))
        .isInstanceOf(TierClosedException.class);
    drafts.forEach(BlockDraft::close);
    assertThatCode(() -> stored.forEach(StoredBlock::close)).doesNotThrowAnyException();
  }

  @Test
  default void close_amongReadsAndPuts_letsEachOfThemEnd() {
    for (int run = 0; run < 20; run++) {
      BlockStore store = open(PLACES);
      List<StoredBlock> stored = put(store, 0, 32);
      List<List<BlockDraft>> drafts = IntStream.range(0, 4).mapToObj(i -> drafts(stored)).toList();
      List<Block> more = blocks(32, 64);
      List<CompletableFuture<Void>> reads =
          drafts.stream().map(into -> store.read(stored, into, GRANULES).toFuture()).toList();
      CompletableFuture<List<StoredBlock>> put = store.put(more).toFuture();
      store.close().block(PATIENCE);
      for (int i = 0; i < reads.size(); i++) {
        if (endedWell(reads.get(i))) {
          assertWhole(drafts.get(i));
        }
        drafts.get(i).forEach(BlockDraft::close);
      }
      if (endedWell(put)) {
        assertThat(keysOf(put.join())).isEqualTo(ALL.subList(32, 64));
        put.join().forEach(StoredBlock::close);
      }
      more.forEach(Block::close);
      stored.forEach(StoredBlock::close);
    }
  }

  @Test
  default void put_cancelled_leavesNothingStored() {
    BlockStore store = open(PLACES);
    List<Block> blocks = blocks(0, PLACES);
    Closing closing = new Closing();
    store.put(blocks).subscribe(closing);
    closing.cancel();
    store.close().block(PATIENCE);
    blocks.forEach(Block::close);
    assertStored(store, 0);
  }

  @Test
  default void read_cancelled_endsBeforeTheStoreDoes() {
    BlockStore store = open(PLACES);
    List<StoredBlock> stored = put(store, 0, PLACES);
    List<BlockDraft> drafts = drafts(stored);
    store.read(stored, drafts, GRANULES).subscribe().dispose();
    store.close().block(PATIENCE);
    drafts.forEach(BlockDraft::close);
    stored.forEach(StoredBlock::close);
  }

  /// False if the store was closed before the copy was accepted; anything else fails.
  private static boolean endedWell(CompletableFuture<?> copy) {
    try {
      copy.orTimeout(PATIENCE.toSeconds(), TimeUnit.SECONDS).join();
      return true;
    } catch (CompletionException e) {
      assertThat(e).hasCauseInstanceOf(TierClosedException.class);
      return false;
    }
  }

  /// Closes what reaches it, also beside its own cancel, which operators of Reactor would drop unseen.
  final class Closing extends BaseSubscriber<List<StoredBlock>> {
    @Override
    protected void hookOnNext(List<StoredBlock> stored) {
      stored.forEach(StoredBlock::close);
    }
  }
}
