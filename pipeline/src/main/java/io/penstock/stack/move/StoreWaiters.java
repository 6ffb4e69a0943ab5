package io.penstock.stack.move;

import io.penstock.stack.decision.DeferredActions;
import io.penstock.tier.spi.StoreUnavailableException;
import java.util.LinkedHashSet;
import java.util.Set;

/// The readers that wait for memory or for bytes of a store. Used in decisions only.
public final class StoreWaiters {
  /// A reader that waits.
  public interface Waiter {
    /// Whether it waits for the store of `level`. In a decision.
    boolean needs(int level);

    /// Fails the reader, because a store that it needs gives no blocks. Outside a decision.
    void interrupt(Throwable why);
  }

  private final Set<Waiter> waiters = new LinkedHashSet<>();

  public void add(Waiter waiter) {
    waiters.add(waiter);
  }

  public void remove(Waiter waiter) {
    waiters.remove(waiter);
  }

  /// Interrupts those that wait for the store of `level`, which gives no blocks now.
  void interrupt(int level, StoreUnavailableException why, DeferredActions after) {
    for (Waiter waiter : waiters) {
      if (waiter.needs(level)) {
        after.then(() -> waiter.interrupt(why));
      }
    }
  }
}
