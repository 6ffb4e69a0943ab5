package io.penstock.flow;

import static java.util.Objects.requireNonNull;

import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.block.SliceShape;
import io.penstock.block.session.SessionState;
import io.penstock.block.session.SessionUse;
import io.penstock.tier.BlockTier;
import io.penstock.tier.Lease;
import io.penstock.tier.OnMiss;
import io.penstock.tier.PutSource;
import io.penstock.tier.Receipt;
import io.penstock.tier.Reservation;
import io.penstock.tier.TierHolds.PutTerms;
import io.penstock.tier.spi.ForwardingTier;
import java.util.List;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/// A tier as one session uses it: each match, lease and put through it is of that session. So [LoadPrefix] and
/// [OffloadPrefix] over it keep the blocks of a conversation between its turns.
///
/// Everything else, [#close()] too, is that of the tier.
public final class SessionTier extends ForwardingTier {
  private final BlockTier tier;
  private final SessionUse session;

  private SessionTier(BlockTier tier, SessionUse session) {
    super(tier);
    this.tier = tier;
    this.session = requireNonNull(session, "session");
  }

  public static SessionTier of(BlockTier tier, SessionUse session) {
    return new SessionTier(tier, session);
  }

  /// Says in which state the session is from now on.
  ///
  /// @return whether the tier knows the session
  public Mono<Boolean> state(SessionState state) {
    return tier.session(session, state);
  }

  /// Matches, and says that the session is active.
  @Override
  public Mono<Integer> match(List<BlockKey> keys) {
    return state(SessionState.ACTIVE).then(tier.match(keys));
  }

  @Override
  public Mono<Lease> lease(List<BlockKey> keys, OnMiss onMiss, BlockScope scope) {
    return tier.lease(keys, onMiss, session, scope);
  }

  @Override
  public Mono<Reservation> reserve(List<BlockKey> keys, BlockScope scope) {
    return tier.reserve(keys, PutTerms.plain().withSession(session), scope);
  }

  @Override
  public Mono<Reservation> reserve(List<BlockKey> keys, PutTerms terms, BlockScope scope) {
    return tier.reserve(keys, terms.withSession(session), scope);
  }

  @Override
  public Flux<Receipt> put(List<BlockKey> keys, SliceShape shape, PutSource source) {
    return put(keys, PutTerms.plain(), shape, source);
  }

  @Override
  public Flux<Receipt> put(List<BlockKey> keys, PutTerms terms, SliceShape shape, PutSource source) {
    return tier.put(keys, terms.withSession(session), shape, source);
  }
}
