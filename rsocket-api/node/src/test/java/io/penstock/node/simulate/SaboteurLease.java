package io.penstock.node.simulate;

import io.penstock.block.BlockScope;
import io.penstock.tier.Lease;
import io.penstock.tier.Leased;
import io.penstock.tier.Presence;
import java.util.List;
import java.util.function.UnaryOperator;
import reactor.core.publisher.Flux;

/// A lease whose windows are tampered with.
final class SaboteurLease extends Lease {
  private final Lease lease;
  private final UnaryOperator<List<Leased>> tampering;

  SaboteurLease(Lease lease, UnaryOperator<List<Leased>> tampering) {
    this.lease = lease;
    this.tampering = tampering;
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
  public Flux<List<Leased>> windows(int maxBlocks, BlockScope scope) {
    return lease.windows(maxBlocks, scope).map(tampering);
  }

  @Override
  protected void free() {
    lease.close();
  }
}
