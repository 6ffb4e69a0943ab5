package io.penstock.wire.server.space;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.block.BlockKey;
import io.penstock.block.SpaceId;
import io.penstock.tier.BlockTier;
import io.penstock.tier.TierHolds;
import io.penstock.tier.TierHolds.LeaseTerms;
import io.penstock.tier.TierHolds.ReadLease;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.function.Predicate;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/// The read leases of one connection, one [TierHolds] for each space in which it asked for some. Safe from any thread.
public final class ConnectionHolds {
  /// Leases that survive the connection and are remembered, to be ended if their caller loses the right to them. Older
  /// ones end by their time.
  private static final int MOST_SURVIVING = 1024;

  private final Object party;
  @GuardedBy("this") private final Map<SpaceId, InSpace> open = new LinkedHashMap<>();
  @GuardedBy("this") private boolean closed;

  /// @param party whose connections share bounds
  public ConnectionHolds(Object party) {
    this.party = party;
  }

  /// The holds in one space.
  ///
  /// @param surviving ids of leases that [TierHolds#close()] does not end. Guarded by the lock
  private record InSpace(BlockTier tier, TierHolds holds, Set<Long> surviving) {
    private void release(long id) {
      holds.release(id).onErrorComplete().subscribe();
    }
  }

  /// Holds whose caller lost the right to them.
  ///
  /// @param surviving ids at the moment of the loss
  private record Lost(InSpace space, List<Long> surviving) {
    private void end() {
      surviving.forEach(space::release);
      space.holds.close();
    }
  }

  /// The holds in the space of `tier`, made when they are first asked for.
  ///
  /// @throws CancellationException if the connection is gone
  public TierHolds in(BlockTier tier) {
    return inSpace(tier).holds;
  }

  private synchronized InSpace inSpace(BlockTier tier) {
    if (closed) {
      throw new CancellationException("connection must be open to lease or pin (was closed)");
    }
    return open.computeIfAbsent(tier.info().space().id(),
        id -> new InSpace(tier, tier.holds(party), new LinkedHashSet<>()));
  }

  /// Leases blocks of `keys`, as [TierHolds#lease].
  public Mono<ReadLease> lease(BlockTier tier, List<BlockKey> keys, LeaseTerms terms) {
    InSpace space = inSpace(tier);
    Mono<ReadLease> leased = space.holds.lease(keys, terms);
    return terms.survives() ? leased.doOnNext(lease -> keep(space, lease.id())) : leased;
  }

  /// Remembers a lease that survives. Ends it if its space was left while it was made: no caller gets it. Ends it
  /// outside the lock, as [#close].
  private void keep(InSpace space, long id) {
    if (!survives(space, id)) {
      space.release(id);
    }
  }

  private synchronized boolean survives(InSpace space, long id) {
    if (!space.equals(open.get(space.tier.info().space().id()))) {
      return false;
    }
    space.surviving.add(id);
    if (space.surviving.size() > MOST_SURVIVING) {
      space.surviving.remove(space.surviving.iterator().next());
    }
    return true;
  }

  /// Ends the lease `id`, in whichever of `tiers` it is; false if it is in none.
  public Mono<Boolean> release(long id, List<BlockTier> tiers) {
    return Flux.fromIterable(tiers).concatMap(tier -> in(tier).release(id), 1).any(released -> released)
        .doOnNext(released -> forget(id));
  }

  private synchronized void forget(long id) {
    open.values().forEach(space -> space.surviving.remove(id));
  }

  /// Ends all leases in the spaces that `lost` takes: the caller may not read there any more. Outside the lock, as
  /// [#close].
  public void endWhere(Predicate<BlockTier> lost) {
    List<Lost> ended = new ArrayList<>();
    synchronized (this) {
      open.values().removeIf(
          each -> lost.test(each.tier) && ended.add(new Lost(each, List.copyOf(each.surviving))));
    }
    ended.forEach(Lost::end);
  }

  /// Ends the leases that do not survive the connection. Runs outside the lock, because waiters of their blocks run
  /// here.
  public void close() {
    List<InSpace> ended;
    synchronized (this) {
      closed = true;
      ended = List.copyOf(open.values());
      open.clear();
    }
    ended.forEach(each -> each.holds.close());
  }
}
