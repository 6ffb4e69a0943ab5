package io.penstock.tier;

import static java.util.Objects.requireNonNull;

import io.penstock.block.Block;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.block.CacheSpace;
import io.penstock.block.SlabArena;
import io.penstock.block.SlabArena.ChunkSource;
import io.penstock.check.Checks;
import io.penstock.pool.SharedMemory;
import io.penstock.pool.WhatIf;
import io.penstock.tier.StackOptions.HoldOptions;
import io.penstock.tier.TierHolds.KeyOutcome;
import io.penstock.tier.TierHolds.PutTerms;
import io.penstock.tier.TierHolds.UnsupportedHoldsException;
import io.penstock.tier.spi.BlockStore;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;

/// Device memory, host memory and disk as one [BlockTier], with one ledger and so an exact eviction policy.
///
/// The ledger decides hits, evictions, promotions and demotions. One short decision covers all keys of a request, in
/// reference order: it touches each key, or inserts it and demotes one block at a time. So hits and victims equal those
/// of the textbook policy over the sum of the levels, whatever streams and copies do meanwhile. Bytes follow the
/// ledger. Until a copy has arrived, the block is read from where its bytes are.
///
/// A key is in the ledger from its admission or reservation on; its block is visible from the commit on. A victim
/// leaves the ledger at once, and leaves memory when its last reader ends. Slots beyond the capacity hold such blocks.
///
/// - Units: capacities in blocks of [CacheSpace#layout()].
/// - Threads: any. Decisions take one lock. Without the lock, blocks are closed, copies started, readers and the
///   listener told.
/// - Backpressure: a reservation waits for slots, a window for transfer memory, both in bounded, fair queues. Unless
///   decisions are exact, a reservation that waits too long is refused ([HoldOptions#roomTimeout()]).
/// - Cancel: ends the wait. A copy that was started goes on, and the ledger learns how it ended.
/// - Errors: a failed copy loses its blocks, each with an event [TierEvent.Lost], unless another level has them, too.
/// - An unhealthy store: no request waits for it. Blocks are evicted instead of demoted to it. Blocks written through
///   to it get a volatile receipt. Its blocks are misses until it is healthy again.
public final class TierStack implements BlockTier {
  private final StackState state;
  private final StackWrites writes;
  private final StackLeases leases;
  private final Mono<Void> closing;

  /// Takes over the stores, and enters the blocks that they kept into the ledger.
  ///
  /// @param levels fastest first; at most one of them host memory
  /// @param listener hears what happens, outside every lock
  /// @throws IllegalArgumentException if the levels do not make a stack
  public TierStack(CacheSpace space, List<Level> levels, StackOptions options, TierListener listener) {
    this(space, levels, options, listener, System::nanoTime);
  }

  /// The same on host memory of another kind.
  ///
  /// @param chunks closed with this stack
  public TierStack(CacheSpace space, List<Level> levels, StackOptions options, TierListener listener,
      ChunkSource chunks) {
    this(space, levels, options, listener, chunks, Sampling.none());
  }

  /// The same, with an estimate of what other capacities would bring.
  ///
  /// @param sampling for [#whatIf]
  public TierStack(CacheSpace space, List<Level> levels, StackOptions options, TierListener listener,
      ChunkSource chunks, Sampling sampling) {
    this(space, levels, options, listener, System::nanoTime, chunks, sampling);
  }

  /// The same with another clock, for the lives of leases and pins, and for the waits in the figures.
  public TierStack(CacheSpace space, List<Level> levels, StackOptions options, TierListener listener,
      LongSupplier nanos) {
    this(space, levels, options, listener, nanos, ChunkSource.ofSystem(), Sampling.none());
  }

  private TierStack(CacheSpace space, List<Level> levels, StackOptions options, TierListener listener,
      LongSupplier nanos, ChunkSource chunks, Sampling sampling) {
    StackShape shape = StackShape.of(space, levels, requireNonNull(options, "options"),
        requireNonNull(listener, "listener"));
    this.state = new StackState(shape, requireNonNull(nanos, "nanos"), new SecureRandom()::nextLong,
        requireNonNull(chunks, "chunks"));
    this.writes = state.writes();
    this.leases = new StackLeases(state, writes);
    this.closing = Mono.defer(this::closeNow).cache();
    state.decide(after -> {
      state.history().sample(sampling);
      state.stores().forEach(store -> store.recover(after));
    });
    state.stores().forEach(AttachedStore::connect);
    state.room().attach();
  }

  @Override
  public TierInfo info() {
    return state.shape().info();
  }

  /// The host memory of this tier, for gauges.
  public SlabArena arena() {
    return state.memory().arena();
  }

  private List<BlockKey> distinct(List<BlockKey> keys) {
    return BlockKey.distinct(keys, info().space().id());
  }

  @Override
  public Mono<Integer> match(List<BlockKey> keys) {
    List<BlockKey> asked = distinct(keys);
    return Mono.fromCallable(() -> look(() -> state.index().lookups().visiblePrefix(asked)));
  }

  @Override
  public Mono<Presence> contains(List<BlockKey> keys) {
    List<BlockKey> asked = distinct(keys);
    return Mono.fromCallable(() -> look(() -> Presence.of(asked.size(), state.index().lookups().visible(asked))));
  }

  @Override
  public Mono<List<Run>> locate(List<BlockKey> keys) {
    List<BlockKey> asked = distinct(keys);
    return Mono.fromCallable(() -> look(() -> state.index().lookups().runs(asked)));
  }

  /// Asks about visible keys. If decisions are exact, the answer is one decision; else it takes no lock, and blocks
  /// that come or leave meanwhile are there or not.
  private <T> T look(Supplier<T> question) {
    T answer = state.shape().options().exact() ? state.look(question) : question.get();
    state.requireOpen();
    return answer;
  }

  /// Answers for the keys, in one decision if decisions are exact; else others get their turn at the lock in between.
  private Presence inSteps(List<BlockKey> keys, Function<List<BlockKey>, BitSet> step) {
    BitSet answer = new BitSet(keys.size());
    int most = state.shape().options().exact() ? Integer.MAX_VALUE : StackLeases.DECISION_KEYS;
    int from = 0;
    do {
      int first = from;
      from = (int) Math.min(keys.size(), (long) first + most);
      step.apply(keys.subList(first, from)).stream().forEach(i -> answer.set(first + i));
    } while (from < keys.size());
    return Presence.of(keys.size(), answer);
  }

  @Override
  public Mono<Lease> lease(List<BlockKey> keys, OnMiss onMiss, BlockScope scope) {
    List<BlockKey> asked = distinct(keys);
    requireNonNull(onMiss, "onMiss");
    return Mono.create(sink -> {
      state.room().wantFor(asked);
      Lease lease = scope.adopt(leases.lease(asked, onMiss));
      sink.onCancel(lease::close);
      sink.success(lease);
    });
  }

  @Override
  public Mono<Reservation> reserve(List<BlockKey> keys, BlockScope scope) {
    return reserve(keys, PutTerms.plain(), scope);
  }

  @Override
  public Mono<Reservation> reserve(List<BlockKey> keys, PutTerms terms, BlockScope scope) {
    if (terms.upserts() && state.shape().isWriteThrough()) {
      throw new UnsupportedHoldsException(info().name(), "replace blocks, and so not write through");
    }
    if (terms.pin() != null) {
      state.shape().options().holds().softPin(terms.pin().life()); // refuses a life that is too long
    }
    return writes.reserve(distinct(keys), terms, scope);
  }

  @Override
  public Mono<Presence> remove(List<BlockKey> keys) {
    List<BlockKey> asked = distinct(keys);
    return Mono.fromCallable(() -> inSteps(asked, some -> state.answer(after -> {
      state.requireOpen();
      BitSet removed = new BitSet();
      for (int i = 0; i < some.size(); i++) {
        removed.set(i, state.removals().remove(some.get(i), false, after) == KeyOutcome.OK);
      }
      return removed;
    })));
  }

  @Override
  public TierHolds holds(Object party) {
    return new StackPartyHolds(state, leases, state.holds().enter(party));
  }

  @Override
  public Flux<TierEvent> events(long sequence) {
    Flux<TierEvent> history = state.events().after(sequence);
    return Flux.defer(() -> state.isClosed() ? Flux.error(state.shape().closed()) : history);
  }

  @Override
  public Flux<TierEvent> follow() {
    Flux<TierEvent> all = state.events().follow(state::snapshot);
    return Flux.defer(() -> state.isClosed() ? Flux.error(state.shape().closed()) : all);
  }

  @Override
  public Mono<TierStat> stat() {
    return Mono.fromCallable(() -> state.answer(after -> { // a decision ends what has expired
      state.requireOpen();
      return state.figures().stat(state);
    }));
  }

  /// Ends the leases, pins, unfinished puts and waits whose time is over. Each decision does this first, so the rules
  /// hold without a call; a node calls it now and then, so that waiting writers get the room of a put that stands
  /// still, or are refused.
  public void expire() {
    state.decide(after -> {
      // It expires
    });
  }

  /// Waits until the blocks that move to a disk, and the commits that are written through, have arrived there. [#close]
  /// does not wait for them, so call this first. Starts no move: blocks that the ledger has in memory stay there. Call
  /// it after the last put, because it waits for later puts, too.
  ///
  /// - Unit: blocks.
  /// - Signals: how many of the blocks that were moving at the subscription have not arrived. More than 0 means that
  ///   `patience` was over, the stack was closed, or a store failed. The writer of a commit hears of its failure.
  /// - Threads: a store's, one of `timers`, or the thread that closes the stack.
  /// - Cancel: ends the wait; the moves go on.
  ///
  /// @param patience at least 1 ms
  /// @param timers clock of `patience`
  /// @return cold
  public Mono<Integer> flush(Duration patience, Scheduler timers) {
    Checks.atLeastOneMilli("patience", patience);
    requireNonNull(timers, "timers");
    return Mono.using(() -> Flush.begin(state), flush -> flush.over().timeout(patience, Mono.empty(), timers)
        .then(Mono.fromSupplier(flush::missed)), Flush::leave);
  }

  /// Ends every wait, closes the stores, and completes when they have closed. Blocks on a disk stay there; device
  /// memory is freed. Host memory is freed when the last lease has ended, which may be after this completes.
  @Override
  public Mono<Void> close() {
    return closing;
  }

  private Mono<Void> closeNow() {
    state.decide(after -> {
      state.close(after);
      writes.close(after);
      leases.close(after);
    });
    state.events().close();
    List<Mono<Void>> stores = new ArrayList<>();
    state.stores().forEach(store -> stores.add(store.close()));
    return Mono.whenDelayError(stores).doOnTerminate(this::storesClosed);
  }

  private void storesClosed() {
    state.decide(after -> {
      state.mover().storesClosed(after);
      after.then(state.memory().arena()::close);
    });
  }

  /// What other capacities of the levels would bring, estimated from the references of the leases so far; an empty
  /// curve without samples. The estimate is of LRU, whatever the policy of this stack.
  public WhatIf whatIf() {
    return state.look(() -> state.history().whatIf());
  }

  // For tests

  /// Number of blocks that move or wait to move.
  int movingBlocks() {
    return state.look(() -> state.index().residents(block -> block.isMoving() || block.currentWait() != null).size());
  }

  /// A share of the block of `key` in host memory; null if it is not there.
  @Nullable Block hostCopy(BlockKey key) {
    return state.look(() -> {
      Resident block = state.index().inMemory(key);
      return block == null ? null : block.hostBlock().share();
    });
  }

  /// Which keys a [TierStack] samples to estimate what other capacities would bring.
  ///
  /// @param keys most sampled keys; 0 for no estimate
  /// @param seed of the choice; clients must not know it
  public record Sampling(int keys, long seed) {
    /// No estimate.
    public static Sampling none() {
      return new Sampling(0, 0);
    }
  }

  /// One level of a [TierStack], and how many blocks the ledger may put there.
  public sealed interface Level {
    /// Used in figures, errors and meters; unique in its stack.
    String name();

    Medium medium();

    /// Most blocks that the ledger puts here; `Long.MAX_VALUE` for any number.
    long capacityBlocks();

    /// Host memory, which the stack allocates.
    ///
    /// @param capacityBlocks most blocks; with a share, those that the level has room for without it
    /// @param share where the level gets room for more blocks; null for no more
    record Host(String name, long capacityBlocks, SharedMemory.@Nullable Share share) implements Level {
      public Host {
        requireNonNull(name, "name");
        Checks.positive("capacityBlocks", capacityBlocks);
      }

      public Host(String name, long capacityBlocks) {
        this(name, capacityBlocks, null);
      }

      /// Most blocks that the level may ever have.
      long mostBlocks(int blockBytes) {
        long more = share == null ? 0 : share.mostBytes() / blockBytes;
        return more > Long.MAX_VALUE - capacityBlocks ? Long.MAX_VALUE : capacityBlocks + more;
      }

      /// Blocks that the level has, or gets when it needs them: with a share, those that no other space takes from it.
      long presentBlocks(long blockBytes) {
        return share == null
            ? capacityBlocks
            : capacityBlocks + Math.max(share.heldBytes(), Math.min(share.guaranteedBytes(), share.mostBytes()))
                / blockBytes;
      }

      @Override
      public Medium medium() {
        return Medium.HOST;
      }
    }

    /// A store, which the stack owns and closes.
    record Stored(BlockStore store, long capacityBlocks) implements Level {
      public Stored {
        Checks.positive("capacityBlocks", capacityBlocks);
        if (capacityBlocks > store.capacityBlocks()) {
          throw new IllegalArgumentException(
              "capacityBlocks must be <= the %d slots of %s (was %d)".formatted(store.capacityBlocks(),
                  store.name(), capacityBlocks));
        }
      }

      @Override
      public String name() {
        return store.name();
      }

      @Override
      public Medium medium() {
        return store.medium();
      }
    }
  }
}
