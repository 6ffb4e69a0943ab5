package io.penstock.flow;

import io.penstock.check.Uncaught;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Operators;
import reactor.util.context.Context;

/// Work for one subscriber in steps, each a subscription: it begins with the first request, and ends once, with an
/// answer, an error or a cancel. Steps come one at a time; a cancel may come on any thread.
///
/// @param <T> the answer
abstract class Steps<T> implements Subscription {
  private static final int NEW = 0;
  private static final int BEGUN = 1;
  private static final int OVER = 2;
  private static final Subscription CANCELLED = Operators.cancelledSubscription();

  private final CoreSubscriber<? super T> subscriber;
  private final AtomicInteger state = new AtomicInteger(NEW);
  private final AtomicReference<Subscription> step = new AtomicReference<>(Operators.emptySubscription());

  Steps(CoreSubscriber<? super T> subscriber) {
    this.subscriber = subscriber;
  }

  /// Subscribes to the first step.
  abstract void begin();

  /// Gives back what the work holds. Called once, when it ends; a step may be under way on another thread.
  abstract void free();

  @Override
  public final void request(long n) {
    if (Operators.validate(n) && state.compareAndSet(NEW, BEGUN)) {
      try {
        begin();
      } catch (RuntimeException | Error e) {
        fail(e);
      }
    }
  }

  @Override
  public final void cancel() {
    if (state.getAndSet(OVER) != OVER) {
      step.getAndSet(CANCELLED).cancel();
      free();
    }
  }

  final boolean isOver() {
    return state.get() == OVER;
  }

  /// Waits for all of a step. Once the work was cancelled, cancels the step.
  final void next(Subscription started) {
    Subscription before = step.get();
    if (before.equals(CANCELLED) || !step.compareAndSet(before, started)) { // only a cancel comes in between
      started.cancel();
    } else {
      started.request(Long.MAX_VALUE);
    }
  }

  /// Ends the work, with `answer` or none.
  final void succeed(@Nullable T answer) {
    if (state.compareAndSet(BEGUN, OVER)) {
      free();
      if (answer != null) {
        subscriber.onNext(answer);
      }
      subscriber.onComplete();
    }
  }

  /// Ends the work with an error, and the step that is under way.
  final void fail(Throwable failure) {
    if (state.compareAndSet(BEGUN, OVER)) {
      step.getAndSet(CANCELLED).cancel();
      free();
      subscriber.onError(failure);
    } else if (!(failure instanceof IllegalStateException)) { // of a draft that the end closed under a step
      Uncaught.report(failure);
    }
  }

  /// One step.
  abstract class Step<V> implements CoreSubscriber<V> {
    @Override
    public final void onSubscribe(Subscription started) {
      next(started);
    }

    @Override
    public void onNext(V value) {}

    @Override
    public final void onError(Throwable failure) {
      fail(failure);
    }

    @Override
    public final Context currentContext() {
      return subscriber.currentContext();
    }
  }
}
