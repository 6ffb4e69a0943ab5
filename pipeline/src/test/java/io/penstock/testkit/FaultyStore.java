package io.penstock.testkit;

import io.penstock.block.Block;
import io.penstock.block.BlockDraft;
import io.penstock.block.BlockKey;
import io.penstock.block.CacheSpace;
import io.penstock.block.GranuleRange;
import io.penstock.tier.Medium;
import io.penstock.tier.Receipt.Durability;
import io.penstock.tier.StoreHealth;
import io.penstock.tier.TierStat;
import io.penstock.tier.spi.BlockStore;
import io.penstock.tier.spi.BlockStore.Evictor;
import io.penstock.tier.spi.StoreUnavailableException;
import io.penstock.tier.spi.StoredBlock;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/// A store that answers what a test wants it to: another error, nothing, an exception where none is expected.
public final class FaultyStore implements BlockStore {
  private final BlockStore store;
  private volatile UnaryOperator<Mono<List<StoredBlock>>> puts = UnaryOperator.identity();
  private volatile UnaryOperator<Mono<Void>> reads = UnaryOperator.identity();
  private volatile UnaryOperator<Mono<Void>> closes = UnaryOperator.identity();
  private volatile Consumer<BlockKey> numbers = key -> {};
  private volatile StoreHealth health = StoreHealth.GOOD;
  private final List<Runnable> watchers = new CopyOnWriteArrayList<>();
  private volatile TierStat.@Nullable Disk disk;

  /// @param store does what is not changed
  public FaultyStore(BlockStore store) {
    this.store = store;
  }

  /// Changes what every put answers from now on; runs when `put` is called, and may throw.
  public FaultyStore puts(UnaryOperator<Mono<List<StoredBlock>>> change) {
    puts = change;
    return this;
  }

  /// Changes what every read answers from now on; runs when `read` is called, and may throw.
  public FaultyStore reads(UnaryOperator<Mono<Void>> change) {
    reads = change;
    return this;
  }

  /// Runs `change` before each `fromNumber` from now on; it may throw.
  public FaultyStore numbers(Consumer<BlockKey> change) {
    numbers = change;
    return this;
  }

  /// Changes what every close answers from now on; runs when `close` is called.
  public FaultyStore closes(UnaryOperator<Mono<Void>> change) {
    closes = change;
    return this;
  }

  /// Is so from now on, and refuses what a store refuses that is so.
  public FaultyStore health(StoreHealth.State state) {
    health = state == StoreHealth.State.ACTIVE ? StoreHealth.GOOD : new StoreHealth(state, "told to be");
    watchers.forEach(Runnable::run);
    return this;
  }

  /// Tells this of its disk from now on.
  public FaultyStore disk(TierStat.Disk told) {
    disk = told;
    return this;
  }

  @Override
  public StoreHealth health() {
    return health;
  }

  @Override
  public TierStat.@Nullable Disk diskStat() {
    return disk;
  }

  @Override
  public void useEvictor(Evictor shortage) {
    store.useEvictor(shortage);
  }

  @Override
  public void watch(Runnable changed) {
    watchers.add(changed);
  }

  /// Behaves from now on.
  public void mend() {
    puts = UnaryOperator.identity();
    reads = UnaryOperator.identity();
    numbers = key -> {};
  }

  @Override
  public String name() {
    return store.name();
  }

  @Override
  public Medium medium() {
    return store.medium();
  }

  @Override
  public CacheSpace space() {
    return store.space();
  }

  @Override
  public Durability durability() {
    return store.durability();
  }

  @Override
  public long capacityBlocks() {
    return store.capacityBlocks();
  }

  @Override
  public Mono<List<StoredBlock>> put(List<Block> blocks) {
    return health.state().takes()
        ? puts.apply(store.put(blocks))
        : Mono.error(StoreUnavailableException.of(name(), health));
  }

  @Override
  public Mono<Void> read(List<? extends StoredBlock> stored, List<BlockDraft> drafts, GranuleRange range) {
    return health.state().gives()
        ? reads.apply(store.read(stored, drafts, range))
        : Mono.error(StoreUnavailableException.of(name(), health));
  }

  @Override
  public List<StoredBlock> recovered() {
    return store.recovered();
  }

  @Override
  public void recover(Recovered to) {
    store.recover(to);
  }

  @Override
  public int toNumber(StoredBlock block) {
    return store.toNumber(block);
  }

  @Override
  public StoredBlock fromNumber(BlockKey key, int number) {
    numbers.accept(key);
    return store.fromNumber(key, number);
  }

  @Override
  public Mono<Void> close() {
    return closes.apply(store.close());
  }
}
