package io.penstock.wire;

import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.tier.BlockTier;
import io.penstock.tier.Lease;
import io.penstock.tier.OnMiss;
import io.penstock.tier.Presence;
import io.penstock.tier.Reservation;
import io.penstock.tier.TierEvent;
import io.penstock.tier.TierInfo;
import io.penstock.tier.TierStat;
import java.util.List;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/// A tier that answers nothing as long as it is mute.
public final class MuteTier implements BlockTier {
  private final BlockTier tier;
  public volatile boolean isMute = true;
  /// Questions so far, where one thread asks them.
  public int asked;

  public MuteTier(BlockTier tier) {
    this.tier = tier;
  }

  private <T> Mono<T> unlessMute(Mono<T> answer) {
    return Mono.defer(() -> {
      asked++;
      return isMute ? Mono.never() : answer;
    });
  }

  @Override
  public TierInfo info() {
    return tier.info();
  }

  @Override
  public Mono<Integer> match(List<BlockKey> keys) {
    return unlessMute(tier.match(keys));
  }

  @Override
  public Mono<Presence> contains(List<BlockKey> keys) {
    return unlessMute(tier.contains(keys));
  }

  @Override
  public Mono<Lease> lease(List<BlockKey> keys, OnMiss onMiss, BlockScope scope) {
    return unlessMute(tier.lease(keys, onMiss, scope));
  }

  @Override
  public Mono<Reservation> reserve(List<BlockKey> keys, BlockScope scope) {
    return unlessMute(tier.reserve(keys, scope));
  }

  @Override
  public Mono<Presence> remove(List<BlockKey> keys) {
    return unlessMute(tier.remove(keys));
  }

  @Override
  public Flux<TierEvent> events(long sequence) {
    return tier.events(sequence);
  }

  @Override
  public Flux<TierEvent> follow() {
    return tier.follow();
  }

  @Override
  public Mono<TierStat> stat() {
    return tier.stat();
  }

  @Override
  public Mono<Void> close() {
    return tier.close();
  }
}
