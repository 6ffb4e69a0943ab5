package io.penstock.wire.region;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.wire.credit.Budget;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;

/// A part of a budget for one step: waited for, had, given back, once. Safe from any thread.
final class Permit implements Disposable {
  private final Budget budget;
  private final long amount;
  @GuardedBy("this") private Budget.@Nullable Place place;
  @GuardedBy("this") private long taken;
  @GuardedBy("this") private boolean over;

  Permit(Budget budget, long amount) {
    this.budget = budget;
    this.amount = amount;
  }

  /// Completes when the amount is taken; for one subscriber, who disposes the permit.
  Mono<Void> granted() {
    return Mono.create(sink -> {
      Budget.Place waits = budget.acquire(amount, () -> {
        if (add(amount)) {
          sink.success();
        }
      }, sink::error);
      if (!keep(waits)) {
        waits.cancel();
      }
    });
  }

  private synchronized boolean keep(Budget.Place waits) {
    place = waits;
    return !over;
  }

  /// Adds what was taken of the budget beside the amount. False if the step is over: then it was given back.
  boolean add(long more) {
    synchronized (this) {
      if (!over) {
        taken += more;
        return true;
      }
    }
    budget.release(more);
    return false;
  }

  /// Leaves the queue, or gives back all that was taken.
  @Override
  public void dispose() {
    Budget.Place waits;
    long back;
    synchronized (this) {
      if (over) {
        return;
      }
      over = true;
      waits = place;
      back = taken;
    }
    if (back > 0) {
      budget.release(back);
    } else if (waits != null) {
      waits.cancel(); // a grant on its way is given back by add
    }
  }
}
