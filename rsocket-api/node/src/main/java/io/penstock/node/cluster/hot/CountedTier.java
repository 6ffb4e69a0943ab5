package io.penstock.node.cluster.hot;

import static java.util.Objects.requireNonNull;

import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.block.session.SessionUse;
import io.penstock.tier.BlockTier;
import io.penstock.tier.Lease;
import io.penstock.tier.LeasedBlock;
import io.penstock.tier.OnMiss;
import io.penstock.tier.Presence;
import io.penstock.tier.TierHolds;
import io.penstock.tier.spi.ForwardingTier;
import java.util.BitSet;
import java.util.List;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/// The blocks of a node as it serves them to others: each block that a lease finds counts as read.
///
/// What the node reads for itself, such as to copy a block, goes to the tier behind this one, and does not count.
/// Readers of shared memory do not count either: they are on this host, and a copy elsewhere is of no use to them.
public final class CountedTier extends ForwardingTier {
  private final BlockTier tier;
  private final Demand demand;
  private final long blockBytes;

  /// @param tier gets each call
  /// @param demand counts the reads
  public CountedTier(BlockTier tier, Demand demand) {
    super(tier);
    this.tier = tier;
    this.demand = requireNonNull(demand, "demand");
    this.blockBytes = tier.info().space().layout().blockBytes();
  }

  private Mono<Lease> counted(List<BlockKey> keys, Mono<Lease> lease) {
    return lease.doOnNext(found -> demand.read(keys, found.found(), blockBytes));
  }

  @Override
  public Mono<Lease> lease(List<BlockKey> keys, OnMiss onMiss, BlockScope scope) {
    return counted(keys, tier.lease(keys, onMiss, scope));
  }

  @Override
  public Mono<Lease> lease(List<BlockKey> keys, OnMiss onMiss, @Nullable SessionUse session, BlockScope scope) {
    return counted(keys, tier.lease(keys, onMiss, session, scope));
  }

  @Override
  public @Nullable List<LeasedBlock> tryGet(List<BlockKey> keys, @Nullable SessionUse session) {
    List<LeasedBlock> blocks = tier.tryGet(keys, session);
    if (blocks != null) {
      BitSet read = new BitSet(keys.size());
      blocks.forEach(block -> read.set(block.position()));
      demand.read(keys, Presence.of(keys.size(), read), blockBytes);
    }
    return blocks;
  }

  @Override
  public TierHolds holds(Object party) {
    return new Holds(tier.holds(party));
  }

  private final class Holds extends TierHolds {
    private final TierHolds holds;

    private Holds(TierHolds holds) {
      this.holds = holds;
    }

    @Override
    public Mono<ReadLease> lease(List<BlockKey> keys, LeaseTerms terms) {
      return holds.lease(keys, terms);
    }

    @Override
    public Mono<Boolean> release(long id) {
      return holds.release(id);
    }

    @Override
    public Mono<Lease> read(long id, List<BlockKey> keys, BlockScope scope) {
      return counted(keys, holds.read(id, keys, scope));
    }

    @Override
    public Mono<List<KeyOutcome>> pin(List<BlockKey> keys, Pin pin) {
      return holds.pin(keys, pin);
    }

    @Override
    public Mono<List<KeyOutcome>> remove(List<BlockKey> keys, boolean force) {
      return holds.remove(keys, force);
    }

    @Override
    public Flux<RemovalCount> remove(KeyFilter which, boolean force) {
      return holds.remove(which, force);
    }

    @Override
    protected void free() {
      holds.close();
    }
  }
}
