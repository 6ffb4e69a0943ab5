package io.penstock.tier.spi;

import io.penstock.tier.TierEvent;

/// Makes room in a store: the stack that the store belongs to.
@FunctionalInterface
public interface Evictor {
  /// Gives up blocks of the store: copies of blocks that a faster level has, too, and the next eviction victims, each
  /// with an event [TierEvent.Evicted]. The stored blocks are closed before this returns, but for those that are being
  /// read. Any thread, under no lock of the store.
  ///
  /// @return how many it gave up; 0 if there is none to give up
  int evict(int blocks);
}
