package io.penstock.device.sidecar.server;

import io.penstock.block.Owned;
import java.util.concurrent.atomic.AtomicInteger;

/// Counts the users of a thing and releases it after the last.
final class RefCount {
  private final AtomicInteger open = new AtomicInteger();
  private final Runnable last;

  /// @param last runs once, on the thread that closes the last share; must not wait
  RefCount(Runnable last) {
    this.last = last;
  }

  /// Adds a user; only while another one is open, or as the first.
  Owned share() {
    open.incrementAndGet();
    return new Share();
  }

  private final class Share extends Owned {
    @Override
    protected void free() {
      if (open.decrementAndGet() == 0) {
        last.run();
      }
    }
  }
}
