package io.penstock.node.replay;

import io.penstock.TransientKvException;
import io.penstock.block.BlockArena;
import io.penstock.block.BlockLayout;
import io.penstock.block.BlockScope;
import io.penstock.block.Permits;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/// The decode party in this process.
///
/// What a pass did not deliver, because a writer gave up or a transient error came between, is asked for again; the
/// number of passes is bounded.
final class Decoder implements DecodeParty {
  /// Times the node is asked for the blocks of one request.
  static final int PASSES = 3;

  private final SliceSource source;
  private final TraceKeys keys;
  private final BlockArena arena;
  private final Permits budget;
  private final LongSupplier nanoClock;

  /// @param arena where received blocks land, for figures
  /// @param budget of bytes in flight, for figures
  /// @param nanoClock for latencies
  Decoder(SliceSource source, TraceKeys keys, BlockArena arena, Permits budget, LongSupplier nanoClock) {
    this.source = source;
    this.keys = keys;
    this.arena = arena;
    this.budget = budget;
    this.nanoClock = nanoClock;
  }

  @Override
  public Mono<Delivery> read(List<Long> ids, Function<Answer, Mono<Void>> supply) {
    if (ids.isEmpty()) {
      return Mono.just(Delivery.NOTHING);
    }
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

    Passes(BlockLayout layout, List<Long> ids, Function<Answer, Mono<Void>> supply) {
      this.reading = new Reading(layout, ids, keys.of(ids), nanoClock);
      this.supply = supply;
    }

    /// Ends with the delivery, or goes through what is missing once more.
    Mono<Delivery> next(@Nullable Throwable last) {
      if (first != null && reading.isComplete()) {
        return Mono.just(reading.delivery(first, passes));
      }
      if (passes == PASSES) {
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
      return Mono.using(BlockScope::new, scope -> source.lease(reading.ask(), scope).flatMap(this::receive),
          BlockScope::close);
    }

    private Mono<Void> receive(SliceLease lease) {
      Answer answer = answer(lease);
      if (first == null) {
        first = answer;
      }
      Mono<Void> received = lease.slices().doOnNext(reading::accept).then();
      return answer.admitted().isEmpty() ? received : Mono.when(received, Mono.defer(() -> supply.apply(answer)));
    }

    private Answer answer(SliceLease lease) {
      List<Long> admitted = new ArrayList<>(lease.admitted().count());
      lease.admitted().bits().stream().forEach(position -> admitted.add(reading.id(position)));
      return new Answer(lease.hits().size(), lease.hits().count(), lease.hits().prefix(), admitted);
    }
  }
}
