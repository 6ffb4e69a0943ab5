package io.penstock.storage.rivals;

import io.penstock.block.Block;
import io.penstock.block.BlockDraft;
import io.penstock.block.GranuleRange;
import io.penstock.storage.EngineKind;
import io.penstock.storage.JournalOptions;
import io.penstock.storage.JournalStore;
import io.penstock.tier.spi.StoredBlock;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import reactor.core.publisher.Mono;

/// The whole store, with the options that a user gets; it reads with as many threads as the others.
final class StoreRival implements Rival {
  private final JournalStore store;
  private final GranuleRange all;
  private final List<StoredBlock> stored = new ArrayList<>();

  StoreRival(EngineKind engine, Path directory, Contest contest) {
    this.all = GranuleRange.all(contest.space().layout());
    this.store = JournalStore.open(contest.space(), JournalOptions.defaults(directory)
        .withEngine(engine).withDurability(contest.rule()).withIoThreads(contest.threads()));
  }

  @Override
  public boolean hasThreads() {
    return true;
  }

  @Override
  public Mono<Void> put(List<Block> batch) {
    return store.put(batch).doOnNext(stored::addAll).then();
  }

  @Override
  public void written() {
    // nothing is kept anywhere else
  }

  @Override
  public Mono<Void> read(int[] numbers, List<BlockDraft> drafts) {
    List<StoredBlock> wanted = new ArrayList<>(numbers.length);
    for (int number : numbers) {
      wanted.add(stored.get(number));
    }
    return store.read(wanted, drafts, all);
  }

  @Override
  public void close() {
    store.close().block();
    stored.forEach(StoredBlock::close);
  }
}
