package io.penstock.wire.server.call;

import io.penstock.operator.Failures;
import io.rsocket.Payload;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Operators;

/// Waits for the first payload of a channel, the open message, which travels without credit and never carries bulk;
/// then lets its receiver take the channel over. Signals of a channel come one at a time.
final class PutOpening implements CoreSubscriber<Payload>, Subscription {
  private final CoreSubscriber<? super Payload> out;
  private final BiFunction<Payload, CoreSubscriber<? super Payload>, CoreSubscriber<Payload>> open;
  private @Nullable Subscription in;
  private @Nullable CoreSubscriber<Payload> receiver;
  private boolean failed;

  /// @param open reads the open message, which it leaves to its caller, and throws if it is wrong
  PutOpening(CoreSubscriber<? super Payload> out,
      BiFunction<Payload, CoreSubscriber<? super Payload>, CoreSubscriber<Payload>> open) {
    this.out = out;
    this.open = open;
  }

  @Override
  public void onSubscribe(Subscription subscription) {
    in = subscription;
    subscription.request(1);
  }

  @Override
  public void onNext(Payload payload) {
    if (receiver != null) {
      receiver.onNext(payload);
    } else if (failed) {
      payload.release();
    } else {
      open(payload);
    }
  }

  private void open(Payload payload) {
    try {
      receiver = open.apply(payload, out);
    } catch (RuntimeException | Error e) {
      failed = true;
      cancel();
      Operators.error(out, Failures.passable(e));
      return;
    } finally {
      payload.release();
    }
    receiver.onSubscribe(this);
  }

  @Override
  public void onError(Throwable error) {
    if (receiver != null) {
      receiver.onError(error);
    } else if (!failed) {
      Operators.error(out, error);
    }
  }

  @Override
  public void onComplete() {
    if (receiver != null) {
      receiver.onComplete();
    } else if (!failed) {
      Operators.complete(out);
    }
  }

  @Override
  public void request(long n) {
    if (in != null) {
      in.request(n);
    }
  }

  @Override
  public void cancel() {
    if (in != null) {
      in.cancel();
    }
  }
}
