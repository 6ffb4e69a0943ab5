package io.penstock.tier;

import io.penstock.tier.spi.StoreUnavailableException;
import java.util.LinkedHashSet;
import java.util.Set;

/// Windows of a [TierStack] that wait for memory, or for bytes from below. Under the stack's lock.
final class RisingWindows {
  private final Set<RisingWindow> windows = new LinkedHashSet<>();

  void enter(RisingWindow window) {
    windows.add(window);
  }

  void leave(RisingWindow window) {
    windows.remove(window);
  }

  /// The store of `level` gives nothing now: whoever waits for it hears so, and goes on without.
  void interrupt(int level, StoreUnavailableException why, Aftermath after) {
    for (RisingWindow window : windows) {
      if (window.needs(level)) {
        after.then(() -> window.interrupt(why));
      }
    }
  }
}
