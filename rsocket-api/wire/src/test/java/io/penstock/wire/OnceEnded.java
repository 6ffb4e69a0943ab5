package io.penstock.wire;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Flux;

/// Takes all that a publisher gives, and counts what it must give once: its end.
final class OnceEnded<T> implements CoreSubscriber<T> {
  private final CompletableFuture<OnceEnded<T>> ended = new CompletableFuture<>();
  private final List<T> values = new ArrayList<>();
  private @Nullable Throwable error;
  private int ends;
  private int late;

  static <T> OnceEnded<T> of(Flux<T> publisher) {
    OnceEnded<T> subscriber = new OnceEnded<>();
    publisher.subscribe(subscriber);
    return subscriber;
  }

  @Override
  public void onSubscribe(Subscription subscription) {
    subscription.request(Long.MAX_VALUE);
  }

  @Override
  public synchronized void onNext(T value) {
    late += ends;
    values.add(value);
  }

  @Override
  public void onError(Throwable failure) {
    synchronized (this) {
      ends++;
      error = failure;
    }
    ended.complete(this);
  }

  @Override
  public void onComplete() {
    synchronized (this) {
      ends++;
    }
    ended.complete(this);
  }

  CompletableFuture<OnceEnded<T>> ended() {
    return ended;
  }

  synchronized List<T> values() {
    return List.copyOf(values);
  }

  synchronized @Nullable Throwable error() {
    return error;
  }

  synchronized void requireOneEnd() {
    if (ends != 1 || late != 0) {
      throw new AssertionError("ends must be 1, with nothing after it (was " + ends + ", " + late + " after it)");
    }
  }
}
