package io.penstock.stack;

import static java.util.Objects.requireNonNull;

import io.penstock.block.Block;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.block.CacheSpace;
import io.penstock.block.SlabArena;
import io.penstock.block.SlabArena.ChunkSource;
import io.penstock.block.session.SessionId;
import io.penstock.block.session.SessionPage;
import io.penstock.block.session.SessionState;
import io.penstock.block.session.SessionUse;
import io.penstock.check.Checks;
import io.penstock.pool.curve.WhatIf;
import io.penstock.stack.decision.Resident;
import io.penstock.stack.move.Flushes;
import io.penstock.stack.read.StackLeases;
import io.penstock.stack.shape.StackLevel;
import io.penstock.stack.shape.StackOptions;
import io.penstock.stack.shape.StackOptions.HoldOptions;
import io.penstock.stack.shape.StackShape;
import io.penstock.tier.BlockTier;
import io.penstock.tier.Lease;
import io.penstock.tier.LeasedBlock;
import io.penstock.tier.OnMiss;
import io.penstock.tier.Presence;
import io.penstock.tier.Receipt.Durability;
import io.penstock.tier.Reservation;
import io.penstock.tier.TierEvent;
import io.penstock.tier.TierHolds;
import io.penstock.tier.TierHolds.KeyOutcome;
import io.penstock.tier.TierHolds.PutTerms;
import io.penstock.tier.TierHolds.UnsupportedHoldsException;
import io.penstock.tier.TierInfo;
import io.penstock.tier.TierListener;
import io.penstock.tier.TierStat;
import io.penstock.tier.spi.BlockStore;
import io.penstock.tier.spi.TierInputs;
import java.time.Duration;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
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
  private final StackParts parts;
  private final Mono<Void> closing;

  /// Takes over the stores, and enters the blocks that they kept into the ledger.
  ///
  /// @param levels fastest first; at most one of them host memory
  /// @param listener receives events, outside every lock
  /// @throws IllegalArgumentException if the levels do not make a stack
  public TierStack(CacheSpace space, List<StackLevel> levels, StackOptions options, TierListener listener) {
    this(space, levels, options, listener, TierInputs.ofSystem(), StackOptions.Sampling.none());
  }

  /// A stack with another clock, for the lives of leases and pins, and for the waits in the figures.
  public TierStack(CacheSpace space, List<StackLevel> levels, StackOptions options, TierListener listener,
      LongSupplier nanos) {
    this(space, levels, options, listener, TierInputs.of(nanos, ChunkSource.ofSystem()), StackOptions.Sampling.none());
  }

  /// A stack with inputs of another kind, and an estimate of the effect of other capacities.
  ///
  /// @param sampling for [#whatIf]
  public TierStack(CacheSpace space, List<StackLevel> levels, StackOptions options, TierListener listener,
      TierInputs inputs, StackOptions.Sampling sampling) {
    StackShape shape = StackShape.of(space, levels, requireNonNull(options, "options"),
        requireNonNull(listener, "listener"), requireNonNull(inputs, "inputs"));
    this.parts = new StackParts(shape, sampling);
    this.closing = Mono.defer(parts::close).cache();
    parts.open();
  }

  @Override
  public TierInfo info() {
    return parts.shape.info();
  }

  /// The host memory of this tier, for gauges.
  public SlabArena arena() {
    return parts.memory.arena();
  }

  private List<BlockKey> distinct(List<BlockKey> keys) {
    return BlockKey.distinct(keys, info().space().id());
  }

  @Override
  public Mono<Integer> match(List<BlockKey> keys) {
    List<BlockKey> asked = distinct(keys);
    return Mono.fromCallable(() -> look(() -> parts.index.lookups().visiblePrefix(asked)));
  }

  @Override
  public Mono<Presence> contains(List<BlockKey> keys) {
    List<BlockKey> asked = distinct(keys);
    return Mono.fromCallable(() -> look(() -> Presence.of(asked.size(), parts.index.lookups().visible(asked))));
  }

  @Override
  public Mono<Presence> contains(List<BlockKey> keys, Durability durability) {
    List<BlockKey> asked = distinct(keys);
    return Mono.fromCallable(
        () -> look(() -> Presence.of(asked.size(), parts.index.lookups().durable(asked, durability))));
  }

  @Override
  public Mono<List<Run>> locate(List<BlockKey> keys) {
    List<BlockKey> asked = distinct(keys);
    return Mono.fromCallable(() -> look(() -> parts.index.lookups().runs(asked)));
  }

  /// Asks about visible keys. If decisions are exact, the answer is one decision; else it takes no lock, and blocks
  /// that come or leave during the call may be in the answer or not.
  private <T> T look(Supplier<T> question) {
    T answer = parts.shape.options().exact() ? parts.decisions.look(question) : question.get();
    parts.decisions.requireOpen();
    return answer;
  }

  /// Answers for the keys, in one decision if decisions are exact; else others get their turn at the lock in between.
  private Presence inSteps(List<BlockKey> keys, Function<List<BlockKey>, BitSet> step) {
    BitSet answer = new BitSet(keys.size());
    int most = parts.shape.options().exact() ? Integer.MAX_VALUE : StackLeases.DECISION_KEYS;
    int from = 0;
    do {
      int first = from;
      from = (int) Math.min(keys.size(), (long) first + most);
      step.apply(keys.subList(first, from)).stream().forEach(i -> answer.set(first + i));
    } while (from < keys.size());
    return Presence.of(keys.size(), answer);
  }

  @Override
  public Mono<Integer> promised(List<BlockKey> keys) {
    List<BlockKey> asked = distinct(keys);
    return Mono.fromCallable(() -> parts.decisions.look(() -> {
      parts.decisions.requireOpen();
      return parts.promised(asked);
    }));
  }

  @Override
  public Mono<Boolean> session(SessionUse session, SessionState state) {
    requireNonNull(session, "session");
    requireNonNull(state, "state");
    return Mono.fromCallable(() -> parts.decisions.answer(after -> {
      parts.decisions.requireOpen();
      return parts.index.session(session, state);
    }));
  }

  @Override
  public Mono<SessionPage> sessionKeys(SessionId session, @Nullable BlockKey after, int most) {
    requireNonNull(session, "session");
    Checks.positive("most", most);
    return Mono.fromCallable(() -> parts.decisions.look(() -> {
      parts.decisions.requireOpen();
      return parts.index.sessionKeys(session, after, most);
    }));
  }

  @Override
  public Mono<Lease> lease(List<BlockKey> keys, OnMiss onMiss, BlockScope scope) {
    return lease(keys, onMiss, null, scope);
  }

  @Override
  public Mono<Lease> lease(List<BlockKey> keys, OnMiss onMiss, @Nullable SessionUse session, BlockScope scope) {
    List<BlockKey> asked = distinct(keys);
    requireNonNull(onMiss, "onMiss");
    return leased(asked, () -> parts.leases.lease(asked, onMiss, session), scope);
  }

  @Override
  public @Nullable List<LeasedBlock> tryGet(List<BlockKey> keys, @Nullable SessionUse session) {
    List<BlockKey> asked = distinct(keys);
    parts.room.wantFor(asked);
    return parts.leases.tryGet(asked, session);
  }

  @Override
  public Mono<Lease> peek(List<BlockKey> keys, BlockScope scope) {
    List<BlockKey> asked = distinct(keys);
    return leased(asked, () -> parts.leases.peek(asked), scope);
  }

  private Mono<Lease> leased(List<BlockKey> keys, Supplier<Lease> decision, BlockScope scope) {
    return Mono.create(sink -> {
      parts.room.wantFor(keys);
      Lease lease = scope.adopt(decision.get());
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
    if (terms.upserts() && parts.shape.isWriteThrough()) {
      throw new UnsupportedHoldsException(info().name(), "replace blocks, and so not write through");
    }
    if (terms.pin() != null) {
      parts.shape.options().holds().softPin(terms.pin().life()); // refuses a life that is too long
    }
    return parts.writes.reserve(distinct(keys), terms, scope);
  }

  @Override
  public Mono<List<PutTerms>> terms(List<BlockKey> keys) {
    List<BlockKey> asked = distinct(keys);
    return Mono.fromCallable(() -> parts.decisions.look(() -> {
      parts.decisions.requireOpen();
      return parts.terms(asked);
    }));
  }

  @Override
  public Mono<Presence> remove(List<BlockKey> keys) {
    List<BlockKey> asked = distinct(keys);
    return Mono.fromCallable(() -> inSteps(asked, some -> parts.decisions.answer(after -> {
      parts.decisions.requireOpen();
      BitSet removed = new BitSet();
      for (int i = 0; i < some.size(); i++) {
        removed.set(i, parts.removals.remove(some.get(i), false, after) == KeyOutcome.OK);
      }
      return removed;
    })));
  }

  @Override
  public TierHolds holds(Object party) {
    return parts.holds(party);
  }

  @Override
  public Flux<TierEvent> events(long sequence) {
    Flux<TierEvent> history = parts.events.after(sequence);
    return Flux.defer(() -> parts.decisions.isClosed() ? Flux.error(parts.shape.closed()) : history);
  }

  @Override
  public Flux<TierEvent> follow() {
    Flux<TierEvent> all = parts.events.follow(parts.snapshots);
    return Flux.defer(() -> parts.decisions.isClosed() ? Flux.error(parts.shape.closed()) : all);
  }

  @Override
  public Mono<TierStat> stat() {
    return Mono.fromCallable(() -> parts.decisions.answer(after -> { // a decision ends what has expired
      parts.decisions.requireOpen();
      return parts.stat();
    }));
  }

  /// Ends the leases, pins, unfinished puts and waits whose time is over. Each decision does this first, so the rules
  /// hold without a call; a node calls it now and then, so that waiting writers get the room of a put that stands
  /// still, or are refused.
  public void expire() {
    parts.decisions.decide(after -> {
      // Each decision first ends what has expired
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
    return Mono.using(() -> parts.flushes.begin(), flush -> flush.over().timeout(patience, Mono.empty(), timers)
        .then(Mono.fromSupplier(flush::missed)), Flushes.Flush::leave);
  }

  /// Moves the blocks that host memory has to the levels below it, as far as these take them, and waits as [#flush]
  /// does. Blocks that are leased or in use stay, and those of a faster device. Nothing moves in a stack that
  /// is exact. For a stack that is about to close: from now on no block stays in host memory for long.
  ///
  /// - Signals: nothing; completes when no block moves any more, or `patience` is over.
  /// - Threads: a store's, one of `timers`, or the thread that closes the stack.
  /// - Cancel: ends the wait; the moves go on.
  ///
  /// @param patience at least 1 ms
  /// @param timers clock of `patience`
  /// @return cold
  public Mono<Void> save(Duration patience, Scheduler timers) {
    AtomicLong before = new AtomicLong(Long.MAX_VALUE);
    return Mono.defer(() -> {
      parts.watermarks.empty();
      return flush(patience, timers);
    }).repeat(() -> {
      long left = parts.decisions.look(parts.index::onHostLevel);
      return left > 0 && before.getAndSet(left) > left;
    }).takeUntilOther(Mono.delay(patience, timers)).then();
  }

  /// Ends every wait, closes the stores, and completes when they have closed. Blocks on a disk stay there; device
  /// memory is freed. Host memory is freed when the last lease has ended, which may be after this completes.
  @Override
  public Mono<Void> close() {
    return closing;
  }

  /// Effect of other capacities of the levels, estimated from the references of the leases so far; an empty curve
  /// without samples. The estimate is of LRU, for any policy of this stack.
  public WhatIf whatIf() {
    return parts.decisions.look(() -> parts.history.whatIf());
  }

  // For tests

  /// Number of blocks that move or wait to move.
  int movingBlocks() {
    return parts.decisions
        .look(() -> parts.index.residents(block -> block.isMoving() || block.currentWait() != null).size());
  }

  /// A share of the block of `key` in host memory; null if it is not there.
  @Nullable Block hostCopy(BlockKey key) {
    return parts.decisions.look(() -> {
      Resident block = parts.index.inMemory(key);
      return block == null ? null : block.hostBlock().share();
    });
  }
}
