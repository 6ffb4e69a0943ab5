package io.penstock.tier;

import static java.util.Objects.requireNonNull;

import io.penstock.block.Block;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.block.CacheSpace;
import io.penstock.block.SlabArena;
import io.penstock.block.SlabArena.ChunkSource;
import io.penstock.check.Checks;
import io.penstock.tier.spi.BlockStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;

/// Device memory, host memory and disk as one [BlockTier], with one ledger and so an exact eviction policy.
///
/// The ledger decides hits, evictions, promotions and demotions, in one short decision over the keys of a request: it
/// touches a key, or inserts it and demotes one block at a time, in reference order. So hits and victims equal those of
/// the textbook policy over the sum of the levels, whatever streams and copies do meanwhile. Bytes follow the ledger;
/// until they have arrived, a block is read from where its bytes are.
///
/// A key is in the ledger from the moment it is admitted or reserved; its block is visible from the commit on. A victim
/// leaves the ledger at once, and memory when its last reader ends: that is what the slots beyond the capacity are for.
///
/// - Units: capacities in blocks of [CacheSpace#layout()].
/// - Threads: any. Decisions take one lock; blocks are closed, copies started, readers and the listener told outside
///   it.
/// - Backpressure: a reservation waits for slots, a window for transfer memory, both in bounded, fair queues.
/// - Cancel: ends the wait. A copy that was started goes on, and the ledger learns how it ended.
/// - Errors: a store that fails costs the blocks that it was to take or give, with an event [TierEvent.Lost], unless a
///   slower level has them, too.
/// - An unhealthy store: no request waits for it. Blocks that were to be demoted to it are evicted, blocks that were to
///   be written through to it get a volatile receipt, blocks in it are misses until it is healthy again.
public final class TierStack implements BlockTier {
  private final StackState state;
  private final StackWrites writes;
  private final StackLeases leases;
  private final Mono<Void> closing;

  /// Takes over the stores, and enters the blocks that they kept into the ledger, on the level of the store.
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
    this(space, levels, options, listener, System::nanoTime, chunks);
  }

  /// The same with another clock, which is used for figures of waiting alone.
  public TierStack(CacheSpace space, List<Level> levels, StackOptions options, TierListener listener,
      LongSupplier nanos) {
    this(space, levels, options, listener, nanos, ChunkSource.ofJdk());
  }

  private TierStack(CacheSpace space, List<Level> levels, StackOptions options, TierListener listener,
      LongSupplier nanos, ChunkSource chunks) {
    StackShape shape = StackShape.of(space, levels, requireNonNull(options, "options"),
        requireNonNull(listener, "listener"));
    this.state = new StackState(shape, requireNonNull(nanos, "nanos"), requireNonNull(chunks, "chunks"));
    this.writes = new StackWrites(state);
    this.leases = new StackLeases(state, writes);
    this.closing = Mono.defer(this::closeNow).cache();
    state.decide(after -> state.stores().forEach(store -> store.recover(after)));
    state.stores().forEach(AttachedStore::connect);
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
    return contains(keys).map(Presence::prefix);
  }

  @Override
  public Mono<Presence> contains(List<BlockKey> keys) {
    List<BlockKey> asked = distinct(keys);
    return Mono.fromCallable(() -> state.look(() -> {
      state.requireOpen();
      return Presence.of(asked.size(), state.index().visible(asked));
    }));
  }

  @Override
  public Mono<Lease> lease(List<BlockKey> keys, OnMiss onMiss, BlockScope scope) {
    List<BlockKey> asked = distinct(keys);
    requireNonNull(onMiss, "onMiss");
    return Mono.create(sink -> {
      Lease lease = scope.adopt(leases.lease(asked, onMiss));
      sink.onCancel(lease::close);
      sink.success(lease);
    });
  }

  @Override
  public Mono<Reservation> reserve(List<BlockKey> keys, BlockScope scope) {
    return writes.reserve(distinct(keys), scope);
  }

  @Override
  public Mono<Presence> remove(List<BlockKey> keys) {
    List<BlockKey> asked = distinct(keys);
    return Mono.fromCallable(() -> state.answer(after -> {
      state.requireOpen();
      BitSet removed = new BitSet();
      for (int i = 0; i < asked.size(); i++) {
        removed.set(i, state.removals().remove(asked.get(i), after));
      }
      return Presence.of(asked.size(), removed);
    }));
  }

  @Override
  public Flux<TierEvent> events(long sequence) {
    Flux<TierEvent> history = state.events().after(sequence);
    return Flux.defer(() -> state.isClosed() ? Flux.error(state.shape().closed()) : history);
  }

  @Override
  public Mono<TierStat> stat() {
    return Mono.fromCallable(() -> state.look(() -> {
      state.requireOpen();
      return state.figures().stat(state);
    }));
  }

  /// Waits for the blocks that move to a disk or wait to, and for commits that are written through, so that [#close],
  /// which waits for none of them, does not leave them behind. Starts no move: blocks that the ledger has in memory
  /// stay there. For callers that put nothing any more; what is put meanwhile is waited for, too.
  ///
  /// - Unit: blocks.
  /// - Signals: how many of the blocks that were moving at the subscription have not arrived. It is 0 if all have; else
  ///   `patience` is over, the stack was closed, or a store failed. A commit tells its own writer.
  /// - Threads: that of a store, of `timers`, or of the caller who closes the stack.
  /// - Cancel: waits no more; the moves go on.
  ///
  /// @param patience at least 1 ms
  /// @param timers clock of that
  /// @return cold
  public Mono<Integer> flush(Duration patience, Scheduler timers) {
    Checks.atLeastOneMilli("patience", patience);
    requireNonNull(timers, "timers");
    return Mono.using(() -> Flush.begin(state), flush -> flush.over().timeout(patience, Mono.empty(), timers)
        .then(Mono.fromSupplier(flush::missed)), Flush::leave);
  }

  /// Ends every wait, closes the stores, and completes when they have. Blocks on a disk stay there, device memory goes
  /// back. Host memory goes back to the system when the last lease has ended, which may be after this completes.
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

  // For tests

  /// Blocks whose bytes are being moved, or wait for that.
  int movingBlocks() {
    return state.look(() -> state.index().residents(block -> block.isMoving() || block.currentWait() != null).size());
  }

  /// A share of the block of `key` in host memory, if it is there now.
  @Nullable Block hostCopy(BlockKey key) {
    return state.look(() -> {
      Resident block = state.index().inMemory(key);
      return block == null ? null : block.hostBlock().share();
    });
  }

  /// One level of a [TierStack], and how many blocks the ledger may put there.
  public sealed interface Level {
    /// Used in figures, errors and meters; unique in its stack.
    String name();

    Medium medium();

    /// Most blocks that the ledger puts here; [io.penstock.pool.Ledger#UNBOUNDED] for any number.
    long capacityBlocks();

    /// Host memory, which the stack has of its own.
    record Host(String name, long capacityBlocks) implements Level {
      public Host {
        requireNonNull(name, "name");
        Checks.positive("capacityBlocks", capacityBlocks);
      }

      @Override
      public Medium medium() {
        return Medium.HOST;
      }
    }

    /// A store, which the stack closes with itself.
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
