package io.penstock.tier.spi;

import io.penstock.tier.TierEvent;

/// Whom a store asks for room: the books of the stack that it belongs to.
@FunctionalInterface
public interface Evictor {
  /// Gives up blocks that rest in the store: copies of what rests faster, too, and those that would leave next. Each
  /// that leaves is an event [TierEvent.Evicted]; the rests are closed before this returns, but for those that are
  /// being read. Any thread, under no lock of the store.
  ///
  /// @return how many were given up; 0 if the store has none that can be
  int evict(int blocks);
}
