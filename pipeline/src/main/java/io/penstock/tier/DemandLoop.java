package io.penstock.tier;

import io.penstock.check.Checks;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscription;
import reactor.core.publisher.Operators;

/// A subscription whose stream has no queue: it takes what is ready when there is demand. Counts the demand, and has
/// one thread at a time emit; safe from any thread.
abstract class DemandLoop implements Subscription {
  private final AtomicLong requested = new AtomicLong();
  /// Held from the start, so that nothing is signalled before `onSubscribe`.
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

  /// Emits, if something is ready and asked for, unless another thread does so now.
  final void drain() {
    if (wip.getAndIncrement() == 0) {
      open();
    }
  }

  /// Emits until no call of [#drain] is left unanswered; the first call follows `onSubscribe`.
  final void open() {
    int missed = 1;
    do {
      emit();
      missed = wip.addAndGet(-missed);
    } while (missed != 0);
  }

  /// Emits what is ready and asked for. One thread at a time.
  abstract void emit();

  final boolean isWanted() {
    return requested.get() > 0;
  }

  /// Takes one off the demand.
  final void spend() {
    if (requested.get() != Long.MAX_VALUE) {
      requested.decrementAndGet();
    }
  }

  /// The error of a request for less than one element; null if there was none.
  final @Nullable Throwable misuse() {
    return misuse;
  }
}
