package io.penstock.tier;

import static java.util.Objects.requireNonNull;

import io.penstock.block.Block;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.block.CacheSpace;
import io.penstock.block.Checks;
import io.penstock.block.ChunkSource;
import io.penstock.block.SlabArena;
import java.time.Duration;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;

/// Tiers under one set of books: device memory, host memory and disk as one [BlockTier] with an exact eviction policy.
///
/// One ledger decides hit, victim, rise and descent, in one short critical section over a list of keys: touch, or
/// insert and move down one at a time, in reference order. So hits and victims equal the textbook policy over the sum
/// of the levels, whatever the streams and the copies do meanwhile. Bytes follow the books; until they are there, the
/// block is read from where it is.
///
/// A key is in the books from the moment it is admitted or reserved; its block is visible from the commit on. A victim
/// leaves the books at once and its memory when its last reader ends, which is what the slots beyond the capacity are
/// for.
///
/// | | |
/// |---|---|
/// | units | capacities in blocks of [CacheSpace#layout()] |
/// | threads | any; decisions take one lock, and blocks are closed, copies started, readers and the listener told outside it |
/// | backpressure | a reservation waits for slots, a window for slots to rise into, both in bounded, fair lines |
/// | cancel | ends the wait; a copy that was started goes on, and the books learn how it ended |
/// | errors | a store that fails costs the blocks it was to take or give, with an event [TierEvent.Lost], unless they rest lower down as well |
/// | a store that is not well | nobody waits for it: what was to sink into it is evicted, what is to be written through to it gets a receipt that is volatile, what rests in it is a miss until it is well again |
public final class TierStack implements BlockTier {
  private final StackBooks books;
  private final StackWrites writes;
  private final StackLeases leases;
  private final Mono<Void> closing;

  /// Takes over the stores, and what they kept from last time into the books, on their own level.
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

  /// The same with another clock, which figures of waiting are taken from and nothing else.
  public TierStack(CacheSpace space, List<Level> levels, StackOptions options, TierListener listener,
      LongSupplier nanos) {
    this(space, levels, options, listener, nanos, ChunkSource.ofJdk());
  }

  private TierStack(CacheSpace space, List<Level> levels, StackOptions options, TierListener listener,
      LongSupplier nanos,
      ChunkSource chunks) {
    this.books = new StackBooks(space, levels, requireNonNull(options, "options"), requireNonNull(listener, "listener"),
        requireNonNull(nanos, "nanos"), requireNonNull(chunks, "chunks"));
    this.writes = new StackWrites(books);
    this.leases = new StackLeases(books, writes);
    this.closing = Mono.defer(this::closeNow).cache();
    recover();
  }

  private void recover() {
    Aftermath after = books.aftermath();
    synchronized (books.lock) {
      for (int level = 0; level < books.levels.size(); level++) {
        if (books.levels.get(level) instanceof Level.Stored) {
          books.recover(level, after);
        }
      }
    }
    after.run();
    books.docks.watch();
    for (int level = 0; level < books.levels.size(); level++) {
      useEvictor(level);
    }
  }

  private void useEvictor(int level) {
    if (books.levels.get(level) instanceof Level.Stored stored) {
      stored.store().useEvictor(blocks -> {
        Aftermath after = books.aftermath();
        int given;
        synchronized (books.lock) {
          given = books.departures.giveBack(level, blocks, after);
        }
        after.run();
        return given;
      });
      stored.store().report(key -> books.departures.damaged(level, key));
    }
  }

  @Override
  public TierInfo info() {
    return books.info;
  }

  /// The host memory of this tier, for gauges.
  public SlabArena arena() {
    return books.memory.arena;
  }

  @Override
  public Mono<Integer> match(List<BlockKey> keys) {
    return contains(keys).map(Presence::prefix);
  }

  @Override
  public Mono<Presence> contains(List<BlockKey> keys) {
    List<BlockKey> asked = BlockKey.distinct(keys, books.space);
    return Mono.fromCallable(() -> {
      synchronized (books.lock) {
        books.requireOpen();
        return Presence.of(asked.size(), books.visible(asked));
      }
    });
  }

  @Override
  public Mono<Lease> lease(List<BlockKey> keys, OnMiss onMiss, BlockScope scope) {
    List<BlockKey> asked = BlockKey.distinct(keys, books.space);
    requireNonNull(onMiss, "onMiss");
    return Mono.create(sink -> {
      Lease lease = scope.adopt(leases.decide(asked, onMiss));
      sink.onCancel(lease::close);
      sink.success(lease);
    });
  }

  @Override
  public Mono<Reservation> reserve(List<BlockKey> keys, BlockScope scope) {
    return writes.reserve(BlockKey.distinct(keys, books.space), scope);
  }

  @Override
  public Mono<Presence> remove(List<BlockKey> keys) {
    List<BlockKey> asked = BlockKey.distinct(keys, books.space);
    return Mono.fromCallable(() -> {
      BitSet removed = new BitSet();
      Aftermath after = books.aftermath();
      synchronized (books.lock) {
        books.requireOpen();
        for (int i = 0; i < asked.size(); i++) {
          removed.set(i, books.departures.remove(asked.get(i)));
        }
        books.reviewMoved(after);
      }
      after.run();
      return Presence.of(asked.size(), removed);
    });
  }

  @Override
  public Flux<TierEvent> events(long sequence) {
    Flux<TierEvent> history = books.events.after(sequence);
    return Flux.defer(() -> books.isClosed() ? Flux.error(books.closedException()) : history);
  }

  @Override
  public Mono<TierStat> stat() {
    return Mono.fromCallable(() -> {
      synchronized (books.lock) {
        books.requireOpen();
        return books.figures.stat(books);
      }
    });
  }

  /// Waits for blocks that are on their way to a disk, so that [#close], which waits for none of them, does not leave
  /// them behind: those that the books have put on a disk and that move there or wait to, and commits that are written
  /// through. Chooses no others: what the books have in memory stays there. For who puts nothing any more; what is put
  /// meanwhile is waited for, too.
  ///
  /// | | |
  /// |---|---|
  /// | unit | blocks |
  /// | signals | how many of those that were on their way at the subscription have not got there: 0 if all have; else `patience` is over, the stack was closed, or a store failed. A commit tells its own writer |
  /// | threads | that of a store, of `timers`, or of whoever closes the stack |
  /// | cancel | waits no more; the moves go on |
  ///
  /// @param patience at least 1 ms
  /// @param timers clock of that
  /// @return cold
  public Mono<Integer> flush(Duration patience, Scheduler timers) {
    Checks.atLeastOneMilli("patience", patience);
    requireNonNull(timers, "timers");
    return Mono.using(() -> new Settling(books), settling -> settling.over().timeout(patience, Mono.empty(), timers)
        .then(Mono.fromSupplier(settling::missed)), Settling::leave);
  }

  /// Ends every wait, closes the stores, and completes when they have. What rests on disk stays there, memory of
  /// devices goes back. Host memory goes back to the system when the last lease has ended, which may be after this
  /// completes.
  @Override
  public Mono<Void> close() {
    return closing;
  }

  private Mono<Void> closeNow() {
    Aftermath after = books.aftermath();
    synchronized (books.lock) {
      books.close(after);
      books.queue.close(after);
      writes.close(after);
      leases.close(after);
    }
    after.run();
    books.events.close();
    List<Mono<Void>> stores = new ArrayList<>();
    for (Level level : books.levels) {
      if (level instanceof Level.Stored stored) {
        stores.add(Mono.defer(stored.store()::close));
      }
    }
    return Mono.whenDelayError(stores).doOnTerminate(this::storesClosed);
  }

  private void storesClosed() {
    Aftermath after = books.aftermath();
    synchronized (books.lock) {
      books.mover.storesClosed(after);
    }
    after.then(books.memory.arena::close);
    after.run();
  }

  /// Blocks whose bytes are being moved, or wait for room to be.
  int unsettledBlocks() {
    synchronized (books.lock) {
      return books.residents(resident -> resident.moving || resident.wait != null).size();
    }
  }

  /// A share of the block of `key` in host memory, if it is there now.
  @Nullable Block hostCopy(BlockKey key) {
    synchronized (books.lock) {
      return books.hostCopy(key);
    }
  }
}
