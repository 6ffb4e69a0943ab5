package io.penstock.node.simulate;

import io.penstock.block.BlockScope;
import io.penstock.tier.Lease;
import io.penstock.tier.Leased;
import io.penstock.tier.Presence;
import java.util.List;
import reactor.core.publisher.Flux;

/// A lease that tells when it has ended, whichever way.
final class WatchedLease extends Lease {
  private final Lease lease;
  private final BlockScope inner;
  private final Runnable onEnd;
  private boolean ended;

  /// @param inner owns `lease`
  /// @param onEnd called once
  WatchedLease(Lease lease, BlockScope inner, Runnable onEnd) {
    this.lease = lease;
    this.inner = inner;
    this.onEnd = onEnd;
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
    return lease.windows(maxBlocks, scope).doOnCancel(this::end).doOnTerminate(this::end);
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
    lease.close();
    inner.close();
  }
}
