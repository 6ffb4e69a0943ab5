package io.penstock.tier.spi;

import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.check.Checks;
import io.penstock.operator.CutOff;
import io.penstock.tier.Lease;
import io.penstock.tier.LeasedBlock;
import io.penstock.tier.Presence;
import java.util.BitSet;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.atomic.AtomicBoolean;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Sinks;

/// A lease of an [OnDemandTier]: each key that was found is made when it is read; none is admitted or awaited.
final class OnDemandLease extends Lease {
  private final OnDemandTier tier;
  private final List<BlockKey> keys;
  private final Presence found;
  private final AtomicBoolean isRead = new AtomicBoolean();
  private final Sinks.Empty<List<LeasedBlock>> ended = Sinks.empty();

  OnDemandLease(OnDemandTier tier, List<BlockKey> keys, Presence found) {
    this.tier = tier;
    this.keys = keys;
    this.found = found;
  }

  @Override
  public Presence hits() {
    return found;
  }

  @Override
  public Presence found() {
    return found;
  }

  @Override
  public Presence admitted() {
    return none();
  }

  @Override
  public Presence awaited() {
    return none();
  }

  @Override
  public Flux<List<LeasedBlock>> windows(int maxBlocks, BlockScope scope) {
    Checks.positive("maxBlocks", maxBlocks);
    return Flux.defer(() -> isRead.compareAndSet(false, true)
        ? CutOff.at(tier.windows(keys, found.bits().stream().toArray(), maxBlocks, scope), ended.asMono())
            .doFinally(end -> close())
        : Flux.error(new IllegalStateException("lease must be read once (was read before)")));
  }

  private Presence none() {
    return Presence.of(keys.size(), new BitSet());
  }

  @Override
  protected void free() {
    ended.tryEmitError(new CancellationException("lease ended before its stream"));
  }
}
