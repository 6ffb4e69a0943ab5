package io.penstock.wire.client.put;

import io.rsocket.Payload;
import java.util.function.Consumer;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Operators;
import reactor.util.context.Context;

/// The payloads of one put on their way to the channel: counts what the node requested and what was sent. An error of
/// theirs is told to the put instead of the channel, which the put cancels: the error is the caller's, and neither the
/// connection's nor the node's.
final class SentSlices implements CoreSubscriber<Payload>, Subscription {
  /// What it tells.
  ///
  /// @param requested number of payloads that the node requests
  /// @param sent before each payload
  /// @param failed once
  record Told(LongConsumer requested, Runnable sent, Consumer<Throwable> failed) {}

  private final CoreSubscriber<? super Payload> channel;
  private final Told told;
  private @Nullable Subscription in;

  private SentSlices(CoreSubscriber<? super Payload> channel, Told told) {
    this.channel = channel;
    this.told = told;
  }

  static Flux<Payload> of(Flux<Payload> payloads, Told told) {
    return Flux
        .from(subscriber -> payloads.subscribe(new SentSlices(Operators.toCoreSubscriber(subscriber), told)));
  }

  @Override
  public Context currentContext() {
    return channel.currentContext();
  }

  @Override
  public void onSubscribe(Subscription subscription) {
    in = subscription;
    channel.onSubscribe(this);
  }

  @Override
  public void onNext(Payload payload) {
    told.sent().run();
    channel.onNext(payload);
  }

  @Override
  public void onError(Throwable error) {
    told.failed().accept(error);
  }

  @Override
  public void onComplete() {
    channel.onComplete();
  }

  @Override
  public void request(long n) {
    told.requested().accept(n);
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
