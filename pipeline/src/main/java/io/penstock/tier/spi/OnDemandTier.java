package io.penstock.tier.spi;

import static java.util.Objects.requireNonNull;

import io.penstock.block.BlockArena;
import io.penstock.block.BlockDraft;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.block.SpaceId;
import io.penstock.check.Checks;
import io.penstock.operator.CutOff;
import io.penstock.operator.InTurn;
import io.penstock.tier.BlockTier;
import io.penstock.tier.Lease;
import io.penstock.tier.LeasedBlock;
import io.penstock.tier.OnMiss;
import io.penstock.tier.Presence;
import io.penstock.tier.Reservation;
import io.penstock.tier.TierClosedException;
import io.penstock.tier.TierEvent;
import io.penstock.tier.TierInfo;
import io.penstock.tier.TierStat;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Predicate;
import java.util.stream.IntStream;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/// A base for tiers that keep no blocks: a block is made, or fetched from elsewhere, when a reader asks for it. Its
/// memory is free when the reader has closed it. Two readers of one key get two copies.
///
/// A subclass says which keys there are ([#find]) and writes the bytes of one block ([#fill]). This class does order,
/// demand, memory, leases and ends. Callers cannot put or remove blocks.
///
/// | | |
/// |---|---|
/// | order | windows of a lease follow one another in key order; blocks of one window are filled side by side |
/// | memory | a window claims all its drafts at once when its reader asks for it, and waits while the arena is full |
/// | cancel | cancels the fills; the reader's scope owns the drafts until then |
public abstract class OnDemandTier implements BlockTier {
  private final TierInfo info;
  private final SpaceId space;
  private final BlockArena arena;
  private final int windowBlocks;
  private final AtomicLong made = new AtomicLong();
  private final AtomicLong hits = new AtomicLong();
  private final AtomicLong misses = new AtomicLong();
  private final Sinks.Empty<Void> closed = Sinks.empty();
  private volatile boolean isClosed;

  /// @param info description of the tier; its capacity is `Long.MAX_VALUE` unless the source has an end
  /// @param arena lends the memory of blocks; it stays the caller's
  /// @param windowBlocks maximum number of blocks that are filled at a time for one reader
  protected OnDemandTier(TierInfo info, BlockArena arena, int windowBlocks) {
    this.info = requireNonNull(info, "info");
    this.space = info.space().id();
    this.arena = requireNonNull(arena, "arena");
    this.windowBlocks = Checks.positive("windowBlocks", windowBlocks);
  }

  /// Keys of `keys` that exist; the keys are distinct and of this tier's space. Called for each `match`, `contains` and
  /// lease.
  ///
  /// @return one value, or an error, which the caller gets
  protected abstract Mono<Presence> find(List<BlockKey> keys);

  /// Writes all bytes of the block `draft.key()`, with [BlockDraft#write] and then [BlockDraft#produced], or with
  /// [BlockDraft#verify] where checksums came along. Subscribed once a block.
  ///
  /// @return true when the draft is complete; false for a miss, if the block is not there after all; an error ends the
  ///     reader's stream. A cancelled fill writes no more than the writes under way
  protected abstract Mono<Boolean> fill(BlockDraft draft);

  /// The answer of [#find] for a tier that knows its keys.
  protected static Presence where(List<BlockKey> keys, Predicate<BlockKey> isThere) {
    BitSet found = new BitSet(keys.size());
    for (int i = 0; i < keys.size(); i++) {
      found.set(i, isThere.test(keys.get(i)));
    }
    return Presence.of(keys.size(), found);
  }

  @Override
  public final TierInfo info() {
    return info;
  }

  @Override
  public final Mono<Integer> match(List<BlockKey> keys) {
    return contains(keys).map(Presence::prefix);
  }

  @Override
  public final Mono<Presence> contains(List<BlockKey> keys) {
    List<BlockKey> asked = BlockKey.distinct(keys, space);
    return open(Mono.defer(() -> find(asked)));
  }

  @Override
  public final Mono<Lease> lease(List<BlockKey> keys, OnMiss onMiss, BlockScope scope) {
    List<BlockKey> asked = BlockKey.distinct(keys, space);
    return contains(asked).map(found -> {
      hits.addAndGet(found.count());
      misses.addAndGet(asked.size() - found.count());
      return scope.adopt(new OnDemandLease(this, asked, found));
    });
  }

  /// Refuses the call with [ReadOnlyTierException].
  @Override
  public final Mono<Reservation> reserve(List<BlockKey> keys, BlockScope scope) {
    return refused(keys);
  }

  /// Refuses the call with [ReadOnlyTierException], unless a subclass gives it a meaning.
  @Override
  public Mono<Presence> remove(List<BlockKey> keys) {
    return refused(keys);
  }

  /// No events, because no block is kept. Completes when the tier closes.
  @Override
  public final Flux<TierEvent> events(long sequence) {
    Checks.notNegative("sequence", sequence);
    return open(closed.asMono().<TierEvent>then(Mono.empty())).flux();
  }

  /// An empty snapshot, because no block is kept. Completes when the tier closes.
  @Override
  public final Flux<TierEvent> follow() {
    return InTurn.of(open(Mono.empty()),
        InTurn.of(Flux.just(new TierEvent.SnapshotStarted(0, List.of()), new TierEvent.SnapshotEnded(0)), events(0)));
  }

  @Override
  public final Mono<TierStat> stat() {
    return open(Mono.fromSupplier(() -> new TierStat(0, info.capacityBlocks(), 0,
        arena.claimedSlots() * info.space().layout().blockBytes(), hits.get(), misses.get(), made.get(), 0, 0, 0,
        List.of())));
  }

  /// Ends every stream with [TierClosedException]. Blocks that readers hold stay theirs.
  @Override
  public Mono<Void> close() {
    return Mono.fromRunnable(() -> {
      isClosed = true;
      closed.tryEmitEmpty();
    });
  }

  /// The blocks of `keys` at `positions`, in windows of at most `maxBlocks`, one a request.
  final Flux<List<LeasedBlock>> windows(List<BlockKey> keys, int[] positions, int maxBlocks, BlockScope scope) {
    int most = (int) Math.min(Math.min(maxBlocks, windowBlocks), arena.capacitySlots());
    return CutOff.at(Flux.range(0, Math.ceilDiv(positions.length, most))
        .concatMap(i -> window(keys,
            Arrays.copyOfRange(positions, i * most, Math.min((i + 1) * most, positions.length)), scope), 0),
        closed.asMono().then(Mono.error(this::closedException)));
  }

  private Mono<List<LeasedBlock>> window(List<BlockKey> keys, int[] positions, BlockScope scope) {
    List<BlockKey> wanted = IntStream.of(positions).mapToObj(keys::get).toList();
    return QueuedClaim.<BlockDraft>of((granted, failed) -> arena.claim(wanted, granted, failed), scope)
        .flatMap(drafts -> Flux.range(0, positions.length)
            .flatMapSequential(i -> filled(positions[i], drafts.get(i), scope), positions.length, 1).collectList())
        .filter(window -> !window.isEmpty());
  }

  private Mono<LeasedBlock> filled(int position, BlockDraft draft, BlockScope scope) {
    return fill(draft).defaultIfEmpty(false).mapNotNull(there -> {
      if (!there) {
        draft.close();
        return null;
      }
      LeasedBlock block = new LeasedBlock(position, scope.adopt(draft.seal()));
      made.incrementAndGet();
      return block;
    });
  }

  private <T> Mono<T> open(Mono<T> answer) {
    return Mono.defer(() -> isClosed ? Mono.error(closedException()) : answer);
  }

  private <T> Mono<T> refused(List<BlockKey> keys) {
    BlockKey.distinct(keys, space);
    return open(Mono.error(() -> new ReadOnlyTierException(info.name())));
  }

  private TierClosedException closedException() {
    return new TierClosedException(info.name());
  }
}
