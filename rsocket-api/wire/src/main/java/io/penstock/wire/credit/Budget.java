package io.penstock.wire.credit;

import io.penstock.budget.Permits;
import io.penstock.wire.report.StreamClock.Wait;
import java.util.function.Consumer;

/// Bytes that may be in flight: taken before they leave, given back when they have landed or left.
public interface Budget {
  /// Takes `bytes` now, or takes nothing and answers false; never overtakes a waiter.
  boolean tryAcquire(long bytes);

  /// Runs `granted` once `bytes` were taken for it: at once if they are free, else when its turn comes. `refused` runs
  /// instead if the budget closes first, or depends on another budget whose queue is full.
  ///
  /// @throws io.penstock.budget.BudgetExhaustedException if the queue is full
  Place acquire(long bytes, Runnable granted, Consumer<? super RuntimeException> refused);

  /// Bytes that are not taken now.
  long free();

  /// Takes bytes back from idle streams of other parties, so that this one could take `bytes`. False if that cannot
  /// be, or if this party has some already.
  default boolean reclaim(long bytes) {
    return false;
  }

  /// Bytes that a lane has given back so far; 0 of a budget that does not count them.
  default long returned() {
    return 0;
  }

  /// Gives `bytes` back and serves the queue.
  void release(long bytes);

  /// The party that holds what a waiter waits for.
  enum Holder {
    /// The party of the waiter itself: bytes that its peer has not taken, or not sent.
    OWN,
    /// Other parties.
    OTHERS,
    /// No party: the rate of the connection allows no more bytes yet.
    RATE;

    /// The culprit of a wait for the bytes. Bytes of the party itself lie in the budget because its peer has not taken,
    /// or not sent, them: a larger budget would only hold more of them.
    public Wait culprit() {
      return switch (this) {
        case OWN -> Wait.PEER;
        case OTHERS -> Wait.BUDGET;
        case RATE -> Wait.RATE;
      };
    }
  }

  /// A place in a queue.
  @FunctionalInterface
  interface Place {
    /// Leaves the queue; true if the grant will not come, false if it came or is coming.
    boolean cancel();

    /// The present holder of the bytes.
    default Holder holder() {
      return Holder.OTHERS;
    }

    /// Runs `changed` on any thread whenever [#holder()] has changed, until the wait ends.
    default void onHolderChange(Runnable changed) {
      // a budget that knows one holder only
    }
  }

  /// `permits` themselves.
  static Budget of(Permits permits) {
    return new Budget() {
      @Override
      public boolean tryAcquire(long bytes) {
        return permits.tryAcquire(bytes);
      }

      @Override
      public Place acquire(long bytes, Runnable granted, Consumer<? super RuntimeException> refused) {
        return permits.acquire(bytes, granted, refused)::cancel;
      }

      @Override
      public long free() {
        return permits.capacity() - permits.inUse();
      }

      @Override
      public void release(long bytes) {
        permits.release(bytes);
      }
    };
  }
}
