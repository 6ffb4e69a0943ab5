package io.penstock.tier.spi;

import static java.util.Objects.requireNonNull;

import io.penstock.block.BlockScope;
import io.penstock.tier.Lease;
import io.penstock.tier.LeasedBlock;
import io.penstock.tier.Presence;
import java.util.List;
import reactor.core.publisher.Flux;

/// A lease that passes each call to another lease, and closes that lease with itself. Subclasses override calls.
/// [#slicedWindows] is made of [#windows].
public abstract class ForwardingLease extends Lease {
  private final Lease lease;

  /// @param lease gets each call
  protected ForwardingLease(Lease lease) {
    this.lease = requireNonNull(lease, "lease");
  }

  @Override
  public Presence hits() {
    return lease.hits();
  }

  @Override
  public Presence found() {
    return lease.found();
  }

  @Override
  public Presence admitted() {
    return lease.admitted();
  }

  @Override
  public Presence awaited() {
    return lease.awaited();
  }

  @Override
  public Flux<List<LeasedBlock>> windows(int maxBlocks, BlockScope scope) {
    return lease.windows(maxBlocks, scope);
  }

  @Override
  protected void free() {
    lease.close();
  }
}
