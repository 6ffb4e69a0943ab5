package io.penstock.device.sidecar;

import io.penstock.block.Owned;
import java.util.concurrent.atomic.AtomicInteger;

/// Counts who still needs something, and lets go of it after the last.
final class Holds {
  private final AtomicInteger open = new AtomicInteger();
  private final Runnable last;

  /// @param last runs once, on the thread of whoever closes the last share; must not wait
  Holds(Runnable last) {
    this.last = last;
  }

  /// One more; only while another is open, or as the first.
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
