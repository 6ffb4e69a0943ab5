package io.penstock.wire.credit;

import io.penstock.operator.Failures;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.scheduler.Scheduler;

/// A budget whose bytes also wait until the rate of their connection allows them. A wait for the rate holds nothing of
/// the budget; waits end in the order in which they began.
final class RateBudget implements Budget {
  private final Budget budget;
  private final ConnectionRate rate;
  private final Scheduler timers;
  private final boolean refunds;

  /// @param timers end the waits, and run grants then
  /// @param refunds whether returned bytes did not count
  RateBudget(Budget budget, ConnectionRate rate, Scheduler timers, boolean refunds) {
    this.budget = budget;
    this.rate = rate;
    this.timers = timers;
    this.refunds = refunds;
  }

  @Override
  public boolean tryAcquire(long bytes) {
    if (!rate.tryTake(bytes)) {
      return false;
    }
    if (budget.tryAcquire(bytes)) {
      return true;
    }
    rate.giveBack(bytes);
    return false;
  }

  @Override
  public Place acquire(long bytes, Runnable granted, Consumer<? super RuntimeException> refused) {
    long wait = rate.take(bytes);
    if (wait > 0) {
      rate.delayed(wait);
      return new Delayed(bytes, wait, granted, refused);
    }
    try {
      return left(bytes, budget.acquire(bytes, granted, refused));
    } catch (RuntimeException | Error e) {
      rate.giveBack(bytes);
      throw e;
    }
  }

  private Place left(long bytes, Place place) {
    return new Place() {
      @Override
      public boolean cancel() {
        boolean left = place.cancel();
        if (left) {
          rate.giveBack(bytes);
        }
        return left;
      }

      @Override
      public Holder holder() {
        return place.holder();
      }

      @Override
      public void onHolderChange(Runnable changed) {
        place.onHolderChange(changed);
      }
    };
  }

  @Override
  public long free() {
    return budget.free();
  }

  @Override
  public boolean reclaim(long bytes) {
    return budget.reclaim(bytes);
  }

  @Override
  public long returned() {
    return budget.returned();
  }

  @Override
  public void release(long bytes) {
    if (refunds) {
      rate.giveBack(bytes);
    }
    budget.release(bytes);
  }

  /// Waits for the rate, then for the budget.
  private final class Delayed implements Place {
    private final long bytes;
    private final Runnable granted;
    private final Consumer<? super RuntimeException> refused;
    private final AtomicBoolean due = new AtomicBoolean();
    private final Disposable.Swap timer = Disposables.swap();
    private volatile @Nullable Place place;
    private volatile @Nullable Runnable changed;

    Delayed(long bytes, long nanos, Runnable granted, Consumer<? super RuntimeException> refused) {
      this.bytes = bytes;
      this.granted = granted;
      this.refused = refused;
      timer.update(timers.schedule(this::due, nanos, TimeUnit.NANOSECONDS));
    }

    private void due() {
      if (due.getAndSet(true)) {
        return;
      }
      try {
        Place behind = left(bytes, budget.acquire(bytes, granted, refused));
        place = behind;
        Runnable told = changed;
        if (told != null) {
          behind.onHolderChange(told);
          told.run();
        }
      } catch (RuntimeException | Error e) {
        rate.giveBack(bytes);
        refused.accept(Failures.unchecked(e));
      }
    }

    @Override
    public Holder holder() {
      Place behind = place;
      return behind == null ? Holder.RATE : behind.holder();
    }

    @Override
    public void onHolderChange(Runnable told) {
      changed = told;
      Place behind = place;
      if (behind != null) {
        behind.onHolderChange(told);
      }
    }

    @Override
    public boolean cancel() {
      if (!due.getAndSet(true)) {
        timer.dispose();
        rate.giveBack(bytes);
        return true;
      }
      Place behind = place;
      return behind != null && behind.cancel();
    }
  }
}
