package io.penstock.lab.simulate;

import io.penstock.block.BlockScope;
import io.penstock.tier.Lease;
import io.penstock.tier.LeasedBlock;
import io.penstock.tier.spi.ForwardingLease;
import java.util.List;
import java.util.function.UnaryOperator;
import reactor.core.publisher.Flux;

/// A lease whose windows are tampered with.
final class SaboteurLease extends ForwardingLease {
  private final UnaryOperator<List<LeasedBlock>> tampering;

  SaboteurLease(Lease lease, UnaryOperator<List<LeasedBlock>> tampering) {
    super(lease);
    this.tampering = tampering;
  }

  @Override
  public Flux<List<LeasedBlock>> windows(int maxBlocks, BlockScope scope) {
    return super.windows(maxBlocks, scope).map(tampering);
  }
}
