package io.penstock.testkit;

import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.tier.BlockTier;
import io.penstock.tier.Lease;
import io.penstock.tier.OnMiss;
import io.penstock.tier.Presence;
import io.penstock.tier.Reservation;
import io.penstock.tier.TierEvent;
import io.penstock.tier.TierHolds;
import io.penstock.tier.TierInfo;
import io.penstock.tier.TierStat;
import java.util.List;
import java.util.function.Function;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/// A tier before which something happens to every call: an error fails it, a `Mono` that never ends stalls it, a delay
/// slows it.
public final class FaultyTier implements BlockTier {
  /// What is asked of the tier.
  public enum Call {
    MATCH, CONTAINS, LEASE, RESERVE, REMOVE, EVENTS, STAT, CLOSE
  }

  private final BlockTier tier;
  private final Function<Call, Mono<Void>> before;

  /// @param before asked at each subscription; the call goes on when what it answers completes
  public FaultyTier(BlockTier tier, Function<Call, Mono<Void>> before) {
    this.tier = tier;
    this.before = before;
  }

  /// Fails every `call` with `failure`, and nothing else.
  public static FaultyTier failing(BlockTier tier, Call call, Throwable failure) {
    return new FaultyTier(tier, asked -> asked == call ? Mono.error(failure) : Mono.empty());
  }

  @Override
  public TierInfo info() {
    return tier.info();
  }

  @Override
  public Mono<Integer> match(List<BlockKey> keys) {
    return after(Call.MATCH, tier.match(keys));
  }

  @Override
  public Mono<Presence> contains(List<BlockKey> keys) {
    return after(Call.CONTAINS, tier.contains(keys));
  }

  @Override
  public Mono<Lease> lease(List<BlockKey> keys, OnMiss onMiss, BlockScope scope) {
    return after(Call.LEASE, tier.lease(keys, onMiss, scope));
  }

  @Override
  public Mono<Reservation> reserve(List<BlockKey> keys, BlockScope scope) {
    return after(Call.RESERVE, tier.reserve(keys, scope));
  }

  @Override
  public Mono<Presence> remove(List<BlockKey> keys) {
    return after(Call.REMOVE, tier.remove(keys));
  }

  @Override
  public TierHolds holds(Object party) {
    return tier.holds(party);
  }

  @Override
  public Flux<TierEvent> events(long sequence) {
    return Mono.defer(() -> before.apply(Call.EVENTS)).thenMany(tier.events(sequence));
  }

  @Override
  public Flux<TierEvent> follow() {
    return Mono.defer(() -> before.apply(Call.EVENTS)).thenMany(tier.follow());
  }

  @Override
  public Mono<TierStat> stat() {
    return after(Call.STAT, tier.stat());
  }

  @Override
  public Mono<Void> close() {
    return after(Call.CLOSE, tier.close());
  }

  private <T> Mono<T> after(Call call, Mono<T> answer) {
    return Mono.defer(() -> before.apply(call)).then(answer);
  }
}
