package io.penstock.wire.server.call;

import io.penstock.wire.protocol.WireErrors;
import io.rsocket.Payload;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscriber;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Operators;
import reactor.util.context.Context;

/// A stream that a peer requested: its request is charged while it runs, it is cancelled when the connection is gone,
/// and its error is sent in the form of the wire. One object replaces a chain of operators.
///
/// Payloads sent while the connection goes still reach RSocket, which releases them.
final class ServedStream implements CoreSubscriber<Payload>, Subscription, Disposable {
  private final CoreSubscriber<? super Payload> actual;
  private final Request request;
  private final Disposable.Composite connection;
  private @Nullable Subscription in;

  private ServedStream(CoreSubscriber<? super Payload> actual, Request request, Disposable.Composite connection) {
    this.actual = actual;
    this.request = request;
    this.connection = connection;
  }

  /// @param charging takes the request over, or throws
  /// @param route work of the request
  /// @param connection cancels its streams when it is gone
  static Flux<Payload> of(Supplier<Request> charging, Function<Request, Flux<Payload>> route,
      Disposable.Composite connection) {
    return Flux.from(subscriber -> {
      CoreSubscriber<? super Payload> actual = Operators.toCoreSubscriber(subscriber);
      Request request;
      Flux<Payload> stream;
      try {
        request = charging.get();
      } catch (RuntimeException | Error e) {
        Operators.error(actual, WireErrors.toWire(e));
        return;
      }
      try {
        stream = route.apply(request);
      } catch (RuntimeException | Error e) {
        request.close();
        Operators.error(actual, WireErrors.toWire(e));
        return;
      }
      Subscriber<Payload> served = new ServedStream(actual, request, connection);
      stream.subscribe(served); // as a Subscriber: it hears of what is thrown here
    });
  }

  @Override
  public Context currentContext() {
    return actual.currentContext();
  }

  @Override
  public void onSubscribe(Subscription subscription) {
    in = subscription;
    connection.add(this); // cancels it if the connection is gone
    actual.onSubscribe(this);
  }

  @Override
  public void onNext(Payload payload) {
    actual.onNext(payload);
  }

  @Override
  public void onError(Throwable error) {
    connection.remove(this);
    actual.onError(WireErrors.toWire(error));
    request.close();
  }

  @Override
  public void onComplete() {
    connection.remove(this);
    actual.onComplete();
    request.close();
  }

  @Override
  public void request(long n) {
    if (in != null) {
      in.request(n);
    }
  }

  @Override
  public void cancel() {
    connection.remove(this);
    dispose();
  }

  @Override
  public void dispose() {
    if (in != null) {
      in.cancel();
    }
    request.close();
  }
}
