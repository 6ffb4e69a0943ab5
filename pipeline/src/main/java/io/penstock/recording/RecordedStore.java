package io.penstock.recording;

import io.penstock.block.Block;
import io.penstock.block.BlockDraft;
import io.penstock.block.BlockKey;
import io.penstock.block.CacheSpace;
import io.penstock.block.GranuleRange;
import io.penstock.recording.RecordedEvent.Kind;
import io.penstock.tier.Medium;
import io.penstock.tier.Receipt.Durability;
import io.penstock.tier.StoreHealth;
import io.penstock.tier.TierStat;
import io.penstock.tier.spi.BlockStore;
import io.penstock.tier.spi.StoreBusyException;
import io.penstock.tier.spi.StoredBlock;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Operators;

/// A store of a tier that is recorded. What the tier asks of the store is a fact; what the store answers later, and
/// what it says by itself, begins a turn. Bytes are copied outside turns, by the store.
final class RecordedStore implements BlockStore {
  private final Turns turns;
  private final int tier;
  private final int number;
  private final BlockStore store;
  // Used in turns
  private long operations;
  private volatile StoreHealth health;

  /// @param number of the store in its tier
  RecordedStore(Turns turns, int tier, int number, BlockStore store) {
    this.turns = turns;
    this.tier = tier;
    this.number = number;
    this.store = store;
    this.health = store.health();
  }

  private RecordedEvent event(Kind kind) {
    return RecordedEvent.of(kind, 0).ofTier(tier).with(number);
  }

  private RecordedEvent event(Kind kind, long more) {
    return RecordedEvent.of(kind, 0).ofTier(tier).with(number, more);
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

  /// As it was when the tier was told of it.
  @Override
  public StoreHealth health() {
    return health;
  }

  @Override
  public TierStat.@Nullable Copies copies() {
    return store.copies();
  }

  @Override
  public TierStat.@Nullable Disk diskStat() {
    return store.diskStat();
  }

  @Override
  public void watch(Runnable changed) {
    store.watch(() -> {
      turns.run(() -> {
        health = store.health();
        return healthEvent(health);
      }, changed);
    });
    StoreHealth now = store.health();
    turns.run(() -> healthEvent(now), () -> health = now);
  }

  private RecordedEvent healthEvent(StoreHealth now) {
    return event(Kind.STORE_HEALTH, now.state().ordinal()).with(now.problem() == null ? "" : now.problem());
  }

  @Override
  public void useEvictor(Evictor evictor) {
    store.useEvictor(blocks -> turns.call(() -> event(Kind.STORE_EVICT, blocks), () -> evictor.evict(blocks)));
  }

  @Override
  public void report(Consumer<BlockKey> damaged) {
    store.report(key -> turns.run(() -> event(Kind.STORE_DAMAGED).with(key), () -> damaged.accept(key)));
  }

  @Override
  public boolean isIntact(StoredBlock block) {
    boolean intact = store.isIntact(block);
    if (!intact) {
      turns.add(event(Kind.NOT_INTACT).with(block.key()));
    }
    return intact;
  }

  @Override
  public long capacityBlocks() {
    return store.capacityBlocks();
  }

  @Override
  public Mono<List<StoredBlock>> put(List<Block> blocks) {
    return Mono.from(reader -> {
      long operation = ++operations;
      turns.add(event(Kind.STORE_PUT, operation).with(blocks.stream().map(Block::key).toList()));
      store.put(blocks).subscribe(new Ending<>(operation, Operators.toCoreSubscriber(reader)));
    });
  }

  @Override
  public Mono<Void> read(List<? extends StoredBlock> blocks, List<BlockDraft> drafts, GranuleRange range) {
    return Mono.from(reader -> {
      long operation = ++operations;
      turns.add(RecordedEvent.of(Kind.STORE_READ, 0).ofTier(tier)
          .with(number, operation, range.first(), range.count())
          .with(blocks.stream().map(StoredBlock::key).toList()));
      store.read(blocks, drafts, range).subscribe(new Ending<>(operation, Operators.toCoreSubscriber(reader)) {
        @Override
        public void onComplete() {
          if (turns.payloads().keeps()) {
            turns.payloads().read(drafts, range, super::onComplete);
          } else {
            super.onComplete();
          }
        }
      });
    });
  }

  @Override
  public List<StoredBlock> recovered() {
    List<StoredBlock> all = store.recovered();
    all.forEach(block -> turns.add(event(Kind.RECOVERED, 0).with(block.key())));
    return all;
  }

  @Override
  public void recover(Recovered to) {
    store.recover(new Recovered() {
      @Override
      public void stored(StoredBlock block) {
        turns.add(event(Kind.RECOVERED, 0).with(block.key()));
        to.stored(block);
      }

      @Override
      public void numbered(BlockKey key, int id) {
        turns.add(event(Kind.RECOVERED, 1).with(key));
        to.numbered(key, id);
      }

      @Override
      public void damaged(BlockKey key) {
        turns.add(event(Kind.RECOVERED, 2).with(key));
        to.damaged(key);
      }
    });
  }

  @Override
  public int toNumber(StoredBlock block) {
    int given = store.toNumber(block);
    if (given == NO_NUMBER) {
      turns.add(event(Kind.NO_NUMBER));
    }
    return given;
  }

  @Override
  public StoredBlock fromNumber(BlockKey key, int given) {
    return store.fromNumber(key, given);
  }

  @Override
  public Mono<Void> close() {
    return Mono.from(reader -> {
      CoreSubscriber<? super Void> closer = Operators.toCoreSubscriber(reader);
      turns.run(() -> event(Kind.STORE_SHUT, ++operations),
          () -> store.close().subscribe(new Ending<>(operations, closer)));
    });
  }

  /// The end of an operation, as a turn.
  private class Ending<T> implements CoreSubscriber<T> {
    private final long operation;
    private final CoreSubscriber<? super T> tierSide;
    private @Nullable T value;

    Ending(long operation, CoreSubscriber<? super T> tierSide) {
      this.operation = operation;
      this.tierSide = tierSide;
    }

    @Override
    public void onSubscribe(Subscription subscription) {
      tierSide.onSubscribe(subscription);
    }

    @Override
    public void onNext(T answer) {
      value = answer;
    }

    @Override
    public void onError(Throwable error) {
      Throwable told = error instanceof StoreBusyException busy
          ? new StoreBusyException(busy.getMessage() == null ? "" : busy.getMessage(), room(busy))
          : error;
      turns.run(() -> Errors.of(event(Kind.STORE_FAILED, operation), error), () -> tierSide.onError(told));
    }

    private Mono<Void> room(StoreBusyException busy) {
      return Mono.from(reader -> {
        CoreSubscriber<? super Void> waiting = Operators.toCoreSubscriber(reader);
        busy.room().subscribe(nothing -> {}, error -> turns.run(() -> event(Kind.STORE_ROOM, operation),
            () -> Operators.error(waiting, error)),
            () -> turns.run(() -> event(Kind.STORE_ROOM, operation), () -> Operators.complete(waiting)));
      });
    }

    @Override
    public void onComplete() {
      turns.run(() -> event(Kind.STORE_DONE, operation), () -> {
        T answer = value;
        if (answer != null) {
          tierSide.onNext(answer);
        }
        tierSide.onComplete();
      });
    }
  }
}
