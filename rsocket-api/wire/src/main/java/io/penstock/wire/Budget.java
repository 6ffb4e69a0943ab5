package io.penstock.wire;

import io.penstock.block.Permits;

/// Bytes that may be in flight: taken before they leave, given back when they have landed or left.
interface Budget {
  /// Takes `bytes` now, or takes nothing and answers false; never overtakes a waiter.
  boolean tryAcquire(long bytes);

  /// Runs `granted` once `bytes` were taken for it: at once if they are free, else when its turn comes.
  ///
  /// @throws io.penstock.block.BudgetExhaustedException if the queue is full
  Place acquire(long bytes, Runnable granted);

  /// Gives `bytes` back and serves the queue.
  void release(long bytes);

  /// A place in a queue.
  @FunctionalInterface
  interface Place {
    /// Leaves the queue; true if the grant will not come any more, false if it came or is coming.
    boolean cancel();
  }

  /// `permits` themselves.
  static Budget of(Permits permits) {
    return new Budget() {
      @Override
      public boolean tryAcquire(long bytes) {
        return permits.tryAcquire(bytes);
      }

      @Override
      public Place acquire(long bytes, Runnable granted) {
        return permits.acquire(bytes, granted)::cancel;
      }

      @Override
      public void release(long bytes) {
        permits.release(bytes);
      }
    };
  }
}
