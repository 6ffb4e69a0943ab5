package io.penstock.recording;

import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.recording.RecordedEvent.Kind;
import io.penstock.recording.RecordedTier.Bits;
import io.penstock.tier.Lease;
import io.penstock.tier.TierHolds;
import java.util.List;
import java.util.function.Function;
import java.util.function.LongFunction;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/// The read leases, pins and removals of one party at a tier that is recorded.
final class RecordedHolds extends TierHolds {
  private final Turns turns;
  private final int tier;
  private final long flow;
  private final TierHolds holds;
  private final Reading reading;

  /// Records a read of a lease.
  interface Reading {
    Mono<Lease> leased(LongFunction<RecordedEvent> cause, Function<BlockScope, Mono<Lease>> call, BlockScope scope);
  }

  RecordedHolds(Turns turns, int tier, long flow, TierHolds holds, Reading reading) {
    this.turns = turns;
    this.tier = tier;
    this.flow = flow;
    this.holds = holds;
    this.reading = reading;
  }

  long flow() {
    return flow;
  }

  @Override
  public Mono<ReadLease> lease(List<BlockKey> keys, LeaseTerms terms) {
    List<BlockKey> asked = List.copyOf(keys);
    Mono<ReadLease> leased = holds.lease(asked, terms); // refuses terms that the tier does not keep
    return TurnStream.answer(turns, tier,
        own -> RecordedEvent.of(Kind.HOLD, own).with(asked).with(flow, terms.life().toNanos(),
            terms.prefixOnly() ? 1 : 0, terms.survives() ? 1 : 0, terms.prefetch() ? 1 : 0, terms.id()),
        () -> leased, (fact, lease) -> {
          long[] bits = Bits.of(lease.found(), lease.leased());
          long[] numbers = new long[bits.length + 2];
          numbers[0] = lease.id();
          numbers[1] = lease.life().toNanos();
          System.arraycopy(bits, 0, numbers, 2, bits.length);
          return fact.with(numbers);
        }, Kind.READ_LEASE);
  }

  @Override
  public Mono<Boolean> release(long id) {
    return TurnStream.answer(turns, tier, own -> RecordedEvent.of(Kind.RELEASE, own).with(flow, id),
        () -> holds.release(id), (fact, released) -> fact.with(released ? 1 : 0), Kind.ANSWER);
  }

  @Override
  public Mono<Lease> read(long id, List<BlockKey> keys, BlockScope scope) {
    List<BlockKey> asked = List.copyOf(keys);
    return reading.leased(own -> RecordedEvent.of(Kind.READ, own).ofTier(tier).with(flow, id).with(asked),
        inner -> holds.read(id, asked, inner), scope);
  }

  @Override
  public Mono<List<KeyOutcome>> pin(List<BlockKey> keys, Pin pin) {
    List<BlockKey> asked = List.copyOf(keys);
    Mono<List<KeyOutcome>> pinned = holds.pin(asked, pin); // refuses a life that is too long
    return outcomes(own -> RecordedEvent.of(Kind.PIN, own)
        .with(flow, pin.kind().ordinal(), pin.life().toNanos()).with(asked), pinned);
  }

  @Override
  public Mono<List<KeyOutcome>> remove(List<BlockKey> keys, boolean force) {
    List<BlockKey> asked = List.copyOf(keys);
    return outcomes(own -> RecordedEvent.of(Kind.TAKE, own).with(flow, force ? 1 : 0).with(asked),
        holds.remove(asked, force));
  }

  private Mono<List<KeyOutcome>> outcomes(LongFunction<RecordedEvent> cause, Mono<List<KeyOutcome>> answer) {
    return TurnStream.answer(turns, tier, cause, () -> answer,
        (fact, outcomes) -> fact.with(outcomes.stream().mapToLong(KeyOutcome::ordinal).toArray()), Kind.OUTCOMES);
  }

  @Override
  public Flux<RemovalCount> remove(KeyFilter which, boolean force) {
    KeyFilter heard = new KeyFilter(which.pattern(), key -> {
      boolean taken = which.test().test(key);
      if (taken) {
        turns.add(RecordedEvent.of(Kind.TAKEN, flow).ofTier(tier).with(key));
      }
      return taken;
    });
    return TurnStream.flux(turns, tier, own -> RecordedEvent.of(Kind.SWEEP, own).with(flow, force ? 1 : 0),
        () -> holds.remove(heard, force), (own, count) -> {
          turns.add(RecordedEvent.of(Kind.ANSWER, own).ofTier(tier).with(count.removed(), count.leased(),
              count.notReady()));
          return count;
        });
  }

  @Override
  protected void free() {
    turns.run(() -> RecordedEvent.of(Kind.CLOSE, flow).ofTier(tier), holds::close);
  }
}
