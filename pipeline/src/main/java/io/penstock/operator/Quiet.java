package io.penstock.operator;

import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Operators;
import reactor.util.context.Context;

/// Ignores errors after a cancel. The scope of a subscriber that has left closes its blocks, so work under way fails,
/// and that failure is no error.
///
/// @param <T> type of the elements
public final class Quiet<T> implements CoreSubscriber<T>, Subscription {
  private final CoreSubscriber<? super T> actual;
  private @Nullable Subscription upstream;
  private volatile boolean cancelled;

  private Quiet(CoreSubscriber<? super T> actual) {
    this.actual = actual;
  }

  /// `stream` without its errors after a cancel: they reach no subscriber and are not reported as dropped.
  public static <T> Flux<T> afterCancel(Flux<T> stream) {
    return Flux.from(subscriber -> stream.subscribe(new Quiet<T>(Operators.toCoreSubscriber(subscriber))));
  }

  @Override
  public Context currentContext() {
    return actual.currentContext();
  }

  @Override
  public void onSubscribe(Subscription subscription) {
    if (Operators.validate(upstream, subscription)) {
      upstream = subscription;
      actual.onSubscribe(this);
    }
  }

  @Override
  public void onNext(T element) {
    actual.onNext(element);
  }

  @Override
  public void onError(Throwable error) {
    if (cancelled) {
      actual.onComplete();
    } else {
      actual.onError(error);
    }
  }

  @Override
  public void onComplete() {
    actual.onComplete();
  }

  @Override
  public void request(long n) {
    if (upstream != null) {
      upstream.request(n);
    }
  }

  @Override
  public void cancel() {
    cancelled = true;
    if (upstream != null) {
      upstream.cancel();
    }
  }
}
