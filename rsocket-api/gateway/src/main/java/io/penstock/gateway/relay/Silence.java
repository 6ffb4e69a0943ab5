package io.penstock.gateway.relay;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Operators;
import reactor.core.scheduler.Scheduler;
import reactor.util.context.Context;

/// Fails a stream with a [TimeoutException] when its source is silent for too long. Only time in which an element is
/// asked for counts: a client that reads slowly does not make its engine silent.
///
/// One timer runs for a stream, and not one for an element. Errors of the source after the end or after a cancel are
/// ignored.
///
/// @param <T> type of the elements
final class Silence<T> implements CoreSubscriber<T>, Subscription {
  private static final int WAITS = 0;
  private static final int SIGNALS = 1;
  private static final int ENDED = 2;

  private final CoreSubscriber<? super T> actual;
  private final long firstNanos;
  private final long idleNanos;
  private final Scheduler timer;
  private final AtomicInteger state = new AtomicInteger(WAITS);
  private final AtomicLong wanted = new AtomicLong();
  private final Disposable.Swap check = Disposables.swap();
  private volatile boolean hasBegun;
  /// Since when the source is silent, while an element is wanted.
  private volatile long since;
  private volatile @Nullable Subscription source;

  private Silence(CoreSubscriber<? super T> actual, Duration first, Duration idle, Scheduler timer) {
    this.actual = actual;
    this.firstNanos = first.toNanos();
    this.idleNanos = idle.toNanos();
    this.timer = timer;
  }

  /// `stream` with limits.
  ///
  /// @param first longest wait for the first element
  /// @param idle longest wait for each further element, and for the end
  static <T> Flux<T> limited(Flux<T> stream, Duration first, Duration idle, Scheduler timer) {
    return Flux.from(subscriber -> stream
        .subscribe(new Silence<T>(Operators.toCoreSubscriber(subscriber), first, idle, timer)));
  }

  @Override
  public Context currentContext() {
    return actual.currentContext();
  }

  @Override
  public void onSubscribe(Subscription subscription) {
    if (Operators.validate(source, subscription)) {
      source = subscription;
      since = now();
      look(firstNanos);
      actual.onSubscribe(this);
    }
  }

  @Override
  public void onNext(T element) {
    if (!state.compareAndSet(WAITS, SIGNALS)) {
      Operators.onDiscard(element, actual.currentContext());
      return;
    }
    hasBegun = true;
    if (wanted.get() != Long.MAX_VALUE) {
      wanted.decrementAndGet();
    }
    since = now();
    actual.onNext(element);
    state.compareAndSet(SIGNALS, WAITS);
  }

  @Override
  public void onError(Throwable error) {
    if (end()) {
      actual.onError(error);
    }
  }

  @Override
  public void onComplete() {
    if (end()) {
      actual.onComplete();
    }
  }

  @Override
  public void request(long n) {
    if (wanted.get() == 0) {
      since = now();
    }
    wanted.accumulateAndGet(n, Operators::addCap);
    Subscription upstream = source;
    if (upstream != null) {
      upstream.request(n);
    }
  }

  @Override
  public void cancel() {
    if (end()) {
      cancelSource();
    }
  }

  private boolean end() {
    boolean isFirst = state.getAndSet(ENDED) != ENDED;
    check.dispose();
    return isFirst;
  }

  private void cancelSource() {
    Subscription upstream = source;
    if (upstream != null) {
      upstream.cancel();
    }
  }

  private long now() {
    return timer.now(TimeUnit.NANOSECONDS);
  }

  private void look(long nanos) {
    check.update(timer.schedule(this::check, nanos, TimeUnit.NANOSECONDS));
  }

  private void check() {
    long limit = hasBegun ? idleNanos : firstNanos;
    long silent = wanted.get() == 0 ? 0 : now() - since;
    if (silent < limit) {
      look(limit - silent);
    } else if (state.compareAndSet(WAITS, ENDED)) {
      cancelSource();
      actual.onError(new TimeoutException("source must signal within " + limit + " ns (was silent)"));
    } else if (state.get() == SIGNALS) {
      look(limit); // an element came at this moment
    }
  }
}
