package io.penstock.testkit;

import java.util.ArrayList;
import java.util.List;
import org.reactivestreams.Subscription;
import reactor.core.publisher.BaseSubscriber;

/// A subscriber with demand of its own that remembers what it got.
final class Collector<T> extends BaseSubscriber<T> {
  private final long initial;
  private final List<T> items = new ArrayList<>();
  private Throwable failure;
  private boolean over;

  Collector(long initial) {
    this.initial = initial;
  }

  @Override
  protected void hookOnSubscribe(Subscription subscription) {
    if (initial > 0) {
      request(initial);
    }
  }

  @Override
  protected synchronized void hookOnNext(T item) {
    items.add(item);
  }

  @Override
  protected synchronized void hookOnComplete() {
    over = true;
  }

  @Override
  protected synchronized void hookOnError(Throwable error) {
    failure = error;
    over = true;
  }

  void ask(long n) {
    request(n);
  }

  synchronized List<T> items() {
    return List.copyOf(items);
  }

  synchronized int seen() {
    return items.size();
  }

  synchronized boolean isOver() {
    return over;
  }

  synchronized Throwable failure() {
    return failure;
  }
}
