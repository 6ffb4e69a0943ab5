package io.penstock.node.party;

import io.penstock.TransientKvException;
import io.penstock.block.BlockArena;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockLayout;
import io.penstock.block.BlockScope;
import io.penstock.block.LayerSlice;
import io.penstock.block.SliceShape;
import io.penstock.budget.Permits;
import io.penstock.flow.LoadOrCompute;
import io.penstock.tier.BlockTier;
import io.penstock.tier.Lease;
import io.penstock.tier.OnMiss;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.function.Function;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/// The decode party in this process.
///
/// Blocks that a pass did not deliver, because a writer gave up or a transient error came between, are asked for again;
/// the number of passes is bounded. A pass is [LoadOrCompute].
///
/// A tier that admits nothing, such as a cluster, is asked twice: what it lacks is put while what it has is read, and
/// read after that.
///
/// A request with more blocks than a node takes at once is read in parts, one after another: the node decides on a part
/// when the one before was delivered.
final class Decoder implements DecodeParty {
  /// Times the node is asked for the blocks of one request.
  static final int PASSES = 3;
  /// Slices requested ahead of demand while blocks are put.
  private static final int PREFETCH = 32;

  private final BlockTier tier;
  private final SliceShape shape;
  private final TraceKeys keys;
  private final BlockArena arena;
  private final Permits budget;
  private final LongSupplier nanoClock;
  private final int partBlocks;
  private final boolean admits;

  /// @param tier in this process, or a node behind a connection
  /// @param arena where received blocks land, for figures
  /// @param budget of bytes in flight, for figures
  /// @param nanoClock for latencies
  Decoder(BlockTier tier, SliceShape shape, TraceKeys keys, BlockArena arena, Permits budget, LongSupplier nanoClock) {
    this(tier, shape, keys, arena, budget, nanoClock, true);
  }

  /// @param admits whether a question admits the blocks that are missing, so that the answer waits for them
  Decoder(BlockTier tier, SliceShape shape, TraceKeys keys, BlockArena arena, Permits budget, LongSupplier nanoClock,
      boolean admits) {
    this(tier, shape, keys, arena, budget, nanoClock, TraceKeys.PART_BLOCKS, admits);
  }

  /// @param partBlocks maximum blocks of a question to the node
  Decoder(BlockTier tier, SliceShape shape, TraceKeys keys, BlockArena arena, Permits budget, LongSupplier nanoClock,
      int partBlocks) {
    this(tier, shape, keys, arena, budget, nanoClock, partBlocks, true);
  }

  private Decoder(BlockTier tier, SliceShape shape, TraceKeys keys, BlockArena arena, Permits budget,
      LongSupplier nanoClock, int partBlocks, boolean admits) {
    this.admits = admits;
    this.tier = tier;
    this.shape = shape;
    this.keys = keys;
    this.arena = arena;
    this.budget = budget;
    this.nanoClock = nanoClock;
    this.partBlocks = partBlocks;
  }

  @Override
  public Mono<Delivery> read(List<Long> ids, Function<Answer, Mono<Void>> supply) {
    if (ids.isEmpty()) {
      return Mono.just(Delivery.NOTHING);
    }
    return Flux.fromIterable(TraceKeys.parts(ids, partBlocks)).concatMap(part -> part(part, supply), 0)
        .reduce(Delivery::then);
  }

  private Mono<Delivery> part(List<Long> ids, Function<Answer, Mono<Void>> supply) {
    return Mono.defer(() -> new Passes(arena.layout(), ids, supply).next(null));
  }

  @Override
  public Mono<PartyStat> stat() {
    return Mono
        .fromSupplier(() -> new PartyStat(budget.inUse(), budget.peak(), budget.capacity(), arena.claimedSlots()));
  }

  /// The passes over one request.
  private final class Passes {
    private final Reading reading;
    private final Function<Answer, Mono<Void>> supply;
    private @Nullable Answer first;
    private int passes;
    /// Questions that were needed because the tier admits nothing.
    private int extra;

    Passes(BlockLayout layout, List<Long> ids, Function<Answer, Mono<Void>> supply) {
      this.reading = new Reading(layout, ids, keys.of(ids), nanoClock);
      this.supply = supply;
    }

    /// Ends with the delivery, or starts another pass for the missing blocks.
    Mono<Delivery> next(@Nullable Throwable last) {
      if (first != null && reading.isComplete()) {
        return Mono.just(reading.delivery(first, passes - extra));
      }
      if (passes == PASSES + extra) {
        return Mono.error(new UndeliveredException(reading.blocksLeft(), reading.blocks(), passes, last));
      }
      passes++;
      return pass().materialize().flatMap(end -> switch (end.getThrowable()) {
        case null -> next(null);
        case TransientKvException failure -> next(failure);
        case Throwable failure -> Mono.error(failure);
      });
    }

    private Mono<Void> pass() {
      return Flux.using(BlockScope::new,
          scope -> slices(reading.ask(), scope).doOnNext(reading::accept), BlockScope::close).then();
    }

    private Flux<LayerSlice> slices(List<BlockKey> missing, BlockScope scope) {
      return admits
          ? LoadOrCompute.layers(tier, missing, shape, this::compute, scope)
          : tier.lease(missing, OnMiss.AWAIT, scope).flatMapMany(lease -> {
            Flux<LayerSlice> slices = lease.slices(shape, scope);
            Mono<Void> computed = compute(lease);
            if (missing(lease).isEmpty()) {
              return slices;
            }
            extra = 1;
            return Flux.merge(PREFETCH, slices, computed.then(Mono.<LayerSlice>empty()));
          });
    }

    /// Positions of blocks that the tier neither has nor gets from another writer.
    private BitSet missing(Lease lease) {
      BitSet missing = new BitSet();
      missing.set(0, lease.found().size());
      missing.andNot(lease.found().bits());
      missing.andNot(lease.awaited().bits());
      return missing;
    }

    private Mono<Void> compute(Lease lease) {
      Answer answer = answer(lease);
      if (first == null) {
        first = answer;
      }
      return Mono.defer(() -> supply.apply(answer));
    }

    private Answer answer(Lease lease) {
      BitSet puts = admits ? lease.admitted().bits() : missing(lease);
      List<Long> admitted = new ArrayList<>(puts.cardinality());
      puts.stream().forEach(position -> admitted.add(reading.id(position)));
      return new Answer(lease.hits().size(), lease.hits().count(), lease.hits().prefix(), admitted);
    }
  }
}
