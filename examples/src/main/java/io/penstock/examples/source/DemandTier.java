package io.penstock.examples.source;

import io.penstock.block.BlockDraft;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.block.CacheSpace;
import io.penstock.block.Permits;
import io.penstock.block.SlabArena;
import io.penstock.block.SpaceId;
import io.penstock.tier.BlockTier;
import io.penstock.tier.Lease;
import io.penstock.tier.LeasedBlock;
import io.penstock.tier.Medium;
import io.penstock.tier.OnMiss;
import io.penstock.tier.Presence;
import io.penstock.tier.Reservation;
import io.penstock.tier.TierClosedException;
import io.penstock.tier.TierEvent;
import io.penstock.tier.TierInfo;
import io.penstock.tier.TierStat;
import java.util.BitSet;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/// A tier that keeps nothing: its blocks come into being when a reader asks for them, in the order of the keys, in a
/// small arena, and are gone when the reader closed them. Every key that it knows is there.
///
/// A subclass says which keys it knows and makes the windows of a lease; the arena is the caller's. Nobody can write to
/// it.
public abstract class DemandTier implements BlockTier {
  private final TierInfo info;
  private final SpaceId space;
  private final SlabArena arena;
  private final AtomicLong made = new AtomicLong();
  private final AtomicLong references = new AtomicLong();
  private final Sinks.Empty<Void> closed = Sinks.empty();
  private volatile boolean isClosed;

  protected DemandTier(String name, CacheSpace space, SlabArena arena) {
    this.info = new TierInfo(name, Medium.HOST, space, Long.MAX_VALUE);
    this.space = space.id();
    this.arena = arena;
  }

  /// Whether a block of `key`, which is of this tier's space, can be made.
  protected abstract boolean knows(BlockKey key);

  /// Makes the blocks of `keys`, all of them known, one window of at most `maxBlocks` for each one requested; `scope`
  /// owns the blocks.
  protected abstract Flux<List<LeasedBlock>> make(List<BlockKey> keys, int maxBlocks, BlockScope scope);

  /// Drafts for `keys`, claimed when they are asked for and not before; `scope` owns them.
  protected final Mono<List<BlockDraft>> claim(List<BlockKey> keys, BlockScope scope) {
    return Mono.create(sink -> sink.onRequest(new FirstRequest(() -> {
      try {
        Permits.Ticket ticket = arena.claim(keys, drafts -> {
          drafts.forEach(scope::adopt);
          sink.success(drafts);
        }, sink::error);
        sink.onCancel(ticket::cancel);
      } catch (RuntimeException e) {
        sink.error(e);
      }
    })));
  }

  /// Counts blocks that were made.
  protected final void made(int blocks) {
    made.addAndGet(blocks);
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
    return open(() -> known(asked));
  }

  @Override
  public final Mono<Lease> lease(List<BlockKey> keys, OnMiss onMiss, BlockScope scope) {
    List<BlockKey> asked = BlockKey.distinct(keys, space);
    return open(() -> {
      references.addAndGet(asked.size());
      return scope.adopt(new DemandLease(this, asked, known(asked)));
    });
  }

  @Override
  public final Mono<Reservation> reserve(List<BlockKey> keys, BlockScope scope) {
    return Mono.error(() -> new ReadOnlyTierException(info.name()));
  }

  @Override
  public Mono<Presence> remove(List<BlockKey> keys) {
    return Mono.error(() -> new ReadOnlyTierException(info.name()));
  }

  /// Nothing ever happens to what is not kept: completes when the tier closes.
  @Override
  public final Flux<TierEvent> events(long sequence) {
    return closed.asMono().<TierEvent>then(Mono.empty()).flux();
  }

  @Override
  public final Mono<TierStat> stat() {
    return open(() -> new TierStat(0, Long.MAX_VALUE, 0, arena.claimedSlots() * info.space().layout().blockBytes(),
        references.get(),
        0, made.get(), 0, 0, 0, List.of()));
  }

  @Override
  public Mono<Void> close() {
    return Mono.fromRunnable(() -> {
      isClosed = true;
      closed.tryEmitEmpty();
    });
  }

  /// Completes when the tier closes.
  final Mono<Void> closed() {
    return closed.asMono();
  }

  private <T> Mono<T> open(Supplier<? extends T> answer) {
    return Mono.fromSupplier(() -> {
      if (isClosed) {
        throw new TierClosedException(info.name());
      }
      return answer.get();
    });
  }

  private Presence known(List<BlockKey> keys) {
    BitSet known = new BitSet(keys.size());
    for (int i = 0; i < keys.size(); i++) {
      known.set(i, knows(keys.get(i)));
    }
    return Presence.of(keys.size(), known);
  }
}
