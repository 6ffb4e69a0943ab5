package io.penstock.lab.simulate;

import io.penstock.block.BlockScope;
import io.penstock.tier.Lease;
import io.penstock.tier.LeasedBlock;
import io.penstock.tier.spi.ForwardingLease;
import java.util.List;
import reactor.core.publisher.Flux;

/// A lease that reports its end, in any way.
final class WatchedLease extends ForwardingLease {
  private final BlockScope inner;
  private final Runnable onEnd;
  private boolean ended;

  /// @param inner owns `lease`
  /// @param onEnd called once
  WatchedLease(Lease lease, BlockScope inner, Runnable onEnd) {
    super(lease);
    this.inner = inner;
    this.onEnd = onEnd;
  }

  @Override
  public Flux<List<LeasedBlock>> windows(int maxBlocks, BlockScope scope) {
    return super.windows(maxBlocks, scope).doOnCancel(this::end).doOnTerminate(this::end);
  }

  private void end() {
    if (!ended) {
      ended = true;
      onEnd.run();
    }
  }

  @Override
  protected void free() {
    end();
    super.free();
    inner.close();
  }
}
