package io.penstock.tier.spi;

import static java.util.Objects.requireNonNull;

import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.block.session.SessionId;
import io.penstock.block.session.SessionPage;
import io.penstock.block.session.SessionState;
import io.penstock.block.session.SessionUse;
import io.penstock.tier.BlockTier;
import io.penstock.tier.Lease;
import io.penstock.tier.LeasedBlock;
import io.penstock.tier.OnMiss;
import io.penstock.tier.Presence;
import io.penstock.tier.Receipt.Durability;
import io.penstock.tier.Reservation;
import io.penstock.tier.TierEvent;
import io.penstock.tier.TierHolds;
import io.penstock.tier.TierHolds.PutTerms;
import io.penstock.tier.TierInfo;
import io.penstock.tier.TierStat;
import java.util.List;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/// A tier that passes each call to another tier, such as a stack of a single level. Subclasses
/// override calls.
public abstract class ForwardingTier implements BlockTier {
  private final BlockTier tier;

  /// @param tier gets each call
  protected ForwardingTier(BlockTier tier) {
    this.tier = requireNonNull(tier, "tier");
  }

  @Override
  public TierInfo info() {
    return tier.info();
  }

  /// Nothing unless sessions are let through: a subclass that decides on leases decides on these, too.
  @Override
  public @Nullable List<LeasedBlock> tryGet(List<BlockKey> keys, @Nullable SessionUse session) {
    return letsSessionsThrough() ? tier.tryGet(keys, session) : null;
  }

  @Override
  public Mono<Integer> match(List<BlockKey> keys) {
    return tier.match(keys);
  }

  @Override
  public Mono<Presence> contains(List<BlockKey> keys) {
    return tier.contains(keys);
  }

  @Override
  public Mono<Presence> contains(List<BlockKey> keys, Durability durability) {
    return tier.contains(keys, durability);
  }

  @Override
  public Mono<List<Run>> locate(List<BlockKey> keys) {
    return tier.locate(keys);
  }

  @Override
  public Mono<Lease> lease(List<BlockKey> keys, OnMiss onMiss, BlockScope scope) {
    return tier.lease(keys, onMiss, scope);
  }

  @Override
  public Mono<Reservation> reserve(List<BlockKey> keys, BlockScope scope) {
    return tier.reserve(keys, scope);
  }

  @Override
  public Mono<Reservation> reserve(List<BlockKey> keys, PutTerms terms, BlockScope scope) {
    return terms.isPlain() && terms.tokens().isEmpty() && terms.session() == null
        ? reserve(keys, scope)
        : tier.reserve(keys, terms, scope);
  }

  @Override
  public Mono<Lease> peek(List<BlockKey> keys, BlockScope scope) {
    return tier.peek(keys, scope);
  }

  /// Passes leases of sessions to [#lease(List, OnMiss, BlockScope)], which a subclass may override, unless a subclass
  /// lets sessions through.
  @Override
  public Mono<Lease> lease(List<BlockKey> keys, OnMiss onMiss, @Nullable SessionUse session, BlockScope scope) {
    return letsSessionsThrough() ? tier.lease(keys, onMiss, session, scope) : lease(keys, onMiss, scope);
  }

  /// Whether the subclass does nothing of its own to a lease.
  protected boolean letsSessionsThrough() {
    return false;
  }

  @Override
  public Mono<Boolean> session(SessionUse session, SessionState state) {
    return tier.session(session, state);
  }

  @Override
  public Mono<SessionPage> sessionKeys(SessionId session, @Nullable BlockKey after, int most) {
    return tier.sessionKeys(session, after, most);
  }

  @Override
  public Mono<Integer> promised(List<BlockKey> keys) {
    return tier.promised(keys);
  }

  @Override
  public Mono<List<PutTerms>> terms(List<BlockKey> keys) {
    return tier.terms(keys);
  }

  @Override
  public Mono<Presence> remove(List<BlockKey> keys) {
    return tier.remove(keys);
  }

  @Override
  public TierHolds holds(Object party) {
    return tier.holds(party);
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
