package io.penstock.wire.cluster.tier;

import io.penstock.TransientKvException;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.block.LayerSlice;
import io.penstock.block.SliceShape;
import io.penstock.operator.CutOff;
import io.penstock.tier.BlockTier;
import io.penstock.tier.Lease;
import io.penstock.tier.LeasedBlock;
import io.penstock.tier.OnMiss;
import io.penstock.tier.PutSource;
import io.penstock.tier.Receipt;
import io.penstock.tier.TierEvent;
import io.penstock.tier.TierHolds;
import io.penstock.tier.TierHolds.PutTerms;
import io.penstock.tier.spi.ForwardingLease;
import io.penstock.tier.spi.ForwardingTier;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/// A node that may die: from then on its streams, and every new call, end with a transient failure.
final class MortalTier extends ForwardingTier {
  private final Sinks.Empty<Void> death = Sinks.empty();
  /// Reads under leases so far.
  final AtomicInteger reads = new AtomicInteger();
  private volatile boolean dead;
  /// Whether it leases and says nothing of it.
  volatile boolean isMute;

  MortalTier(BlockTier tier) {
    super(tier);
  }

  void die() {
    dead = true;
    death.tryEmitError(failure());
  }

  boolean isDead() {
    return dead;
  }

  static TransientKvException failure() {
    return new TransientKvException("node died");
  }

  @Override
  public Mono<Lease> lease(List<BlockKey> keys, OnMiss onMiss, BlockScope scope) {
    return super.lease(keys, onMiss, scope).map(lease -> scope.adopt(new MortalLease(lease)));
  }

  @Override
  public TierHolds holds(Object party) {
    return new MortalHolds(super.holds(party));
  }

  @Override
  public Flux<Receipt> put(List<BlockKey> keys, PutTerms terms, SliceShape shape, PutSource source) {
    return CutOff.at(super.put(keys, terms, shape, source), death.asMono());
  }

  @Override
  public Flux<TierEvent> follow() {
    return CutOff.at(super.follow(), death.asMono());
  }

  /// Counts reads under leases.
  private final class MortalHolds extends TierHolds {
    private final TierHolds holds;

    private MortalHolds(TierHolds holds) {
      this.holds = holds;
    }

    @Override
    public Mono<ReadLease> lease(List<BlockKey> keys, LeaseTerms terms) {
      Mono<ReadLease> lease = living(holds.lease(keys, terms));
      return isMute ? lease.then(Mono.never()) : lease;
    }

    @Override
    public Mono<Boolean> release(long id) {
      return living(holds.release(id));
    }

    @Override
    public Mono<Lease> read(long id, List<BlockKey> keys, BlockScope scope) {
      return living(holds.read(id, keys, scope).<Lease>map(lease -> scope.adopt(new MortalLease(lease))))
          .doOnSubscribe(begun -> reads.incrementAndGet());
    }

    @Override
    public Mono<List<KeyOutcome>> pin(List<BlockKey> keys, Pin pin) {
      return living(holds.pin(keys, pin));
    }

    @Override
    public Mono<List<KeyOutcome>> remove(List<BlockKey> keys, boolean force) {
      return living(holds.remove(keys, force));
    }

    @Override
    public Flux<RemovalCount> remove(KeyFilter which, boolean force) {
      return holds.remove(which, force);
    }

    private <T> Mono<T> living(Mono<T> call) {
      return Mono.defer(() -> dead ? Mono.error(failure()) : call);
    }

    @Override
    protected void free() {
      holds.close();
    }
  }

  private final class MortalLease extends ForwardingLease {
    private final Lease lease;

    private MortalLease(Lease lease) {
      super(lease);
      this.lease = lease;
    }

    @Override
    public Flux<List<LeasedBlock>> windows(int maxBlocks, BlockScope scope) {
      return CutOff.at(super.windows(maxBlocks, scope), death.asMono());
    }

    @Override
    public Flux<LayerSlice> slices(SliceShape shape, BlockScope scope) {
      return CutOff.at(lease.slices(shape, scope), death.asMono());
    }
  }
}
