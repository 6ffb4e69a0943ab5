package io.penstock.testkit;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;

/// A subscriber against the rules: it throws at the first element, after it has freed it. Reactor's own subscribers
/// turn what their hooks throw into an error; a fatal error passes them.
public final class Thrower<T> implements CoreSubscriber<T> {
  private final Consumer<? super T> free;
  private final List<String> ends = new ArrayList<>();

  public Thrower(Consumer<? super T> free) {
    this.free = free;
  }

  /// The message of the error, or `completed`, for each end of the stream.
  public List<String> ends() {
    return ends;
  }

  @Override
  public void onSubscribe(Subscription subscription) {
    subscription.request(1);
  }

  @Override
  public void onNext(T element) {
    free.accept(element);
    throw new IllegalStateException("thrown by the subscriber");
  }

  @Override
  public void onError(Throwable error) {
    ends.add(error.getMessage());
  }

  @Override
  public void onComplete() {
    ends.add("completed");
  }
}
