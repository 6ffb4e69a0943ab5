package io.penstock.wire.server.space;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.block.SpaceId;
import io.penstock.tier.BlockTier;
import io.penstock.tier.TierHolds;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CancellationException;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/// The read leases of one connection, one [TierHolds] for each space in which it asked for some. Safe from any thread.
public final class ConnectionHolds {
  private final Object address;
  @GuardedBy("this") private final Map<SpaceId, TierHolds> open = new LinkedHashMap<>();
  @GuardedBy("this") private boolean closed;

  /// @param address of the peer, whose connections share bounds
  public ConnectionHolds(Object address) {
    this.address = address;
  }

  /// The holds in the space of `tier`, made when they are first asked for.
  ///
  /// @throws CancellationException if the connection is gone
  public synchronized TierHolds in(BlockTier tier) {
    if (closed) {
      throw new CancellationException("connection must be open to lease or pin (was closed)");
    }
    return open.computeIfAbsent(tier.info().space().id(), id -> tier.holds(address));
  }

  /// Ends the lease `id`, in whichever of `tiers` it is; false if it is in none.
  public Mono<Boolean> release(long id, List<BlockTier> tiers) {
    return Flux.fromIterable(tiers).concatMap(tier -> in(tier).release(id), 1).any(released -> released);
  }

  /// Ends the leases that do not survive the connection. Runs outside the lock, because waiters of their blocks run
  /// here.
  public void close() {
    List<TierHolds> ended;
    synchronized (this) {
      closed = true;
      ended = List.copyOf(open.values());
      open.clear();
    }
    ended.forEach(TierHolds::close);
  }
}
