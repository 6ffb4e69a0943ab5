package io.penstock.tier;

import io.penstock.check.Checks;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscription;
import reactor.core.publisher.Operators;

/// A subscription without a queue: when there is demand, its stream looks for elements that are ready. Counts the
/// demand, and lets one thread emit at a time. Safe from any thread.
public abstract class DemandLoop implements Subscription {
  private final AtomicLong requested = new AtomicLong();
  /// Starts at 1, so that no signal precedes `onSubscribe`: [#open] takes that 1 back.
  private final AtomicInteger wip = new AtomicInteger(1);
  private volatile @Nullable Throwable misuse;

  @Override
  public final void request(long n) {
    if (n <= 0) {
      misuse = Checks.misrequest(n);
    } else {
      requested.accumulateAndGet(n, Operators::addCap);
    }
    drain();
  }

  /// Has elements emitted: by this thread, or by the thread that emits now.
  public final void drain() {
    if (wip.getAndIncrement() == 0) {
      open();
    }
  }

  /// Emits until every call of [#drain] is answered. The stream calls this first right after `onSubscribe`.
  public final void open() {
    int missed = 1;
    do {
      emit();
      missed = wip.addAndGet(-missed);
    } while (missed != 0);
  }

  /// Emits the elements that are ready, as far as there is demand. One thread at a time.
  public abstract void emit();

  public final boolean isWanted() {
    return requested.get() > 0;
  }

  /// Takes one element off the demand.
  public final void spend() {
    if (requested.get() != Long.MAX_VALUE) {
      requested.decrementAndGet();
    }
  }

  /// The error of a request for less than one element; null if there was none.
  public final @Nullable Throwable misuse() {
    return misuse;
  }
}
