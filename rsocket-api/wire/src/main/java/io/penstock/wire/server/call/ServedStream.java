package io.penstock.wire.server.call;

import io.penstock.wire.protocol.WireErrors;
import io.rsocket.Payload;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import org.reactivestreams.Subscriber;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Operators;
import reactor.util.context.Context;

/// A stream that a peer requested, or its channel: the request is charged while it runs, it is cancelled when the
/// connection is gone, it ends when its caller loses the right to it, and its error is sent in the form of the wire.
/// One object replaces a chain of operators.
///
/// Payloads sent while the connection goes still reach RSocket, which releases them; those sent while a right is lost
/// are released here.
final class ServedStream implements CoreSubscriber<Payload>, Subscription, Disposable {
  private static final int IDLE = 0;
  private static final int EMITTING = 1;
  /// A right was lost while a payload was emitted: the emitting thread sends the error.
  private static final int ENDING = 2;
  private static final int OVER = 3;
  private static final int CANCELLED = 4;

  private final CoreSubscriber<? super Payload> actual;
  private final Runnable over;
  private final Streams streams;
  private final RequestRights rights;
  private final AtomicInteger state = new AtomicInteger(IDLE);
  private @Nullable Subscription in;
  private volatile Disposable watch = Disposables.disposed();
  private volatile @Nullable RuntimeException lack;

  private ServedStream(CoreSubscriber<? super Payload> actual, Runnable over, Streams streams, RequestRights rights) {
    this.actual = actual;
    this.over = over;
    this.streams = streams;
    this.rights = rights;
  }

  /// The streams of one connection.
  ///
  /// @param open cancelled when the connection is gone
  /// @param held ends streams whose right is lost
  record Streams(Disposable.Composite open, HeldRights held) {}

  /// @param charging takes the request over, or throws
  /// @param route work of the request
  static Flux<Payload> of(Function<RequestRights, Request> charging, Function<Request, Flux<Payload>> route,
      Streams streams) {
    return Flux.from(subscriber -> {
      CoreSubscriber<? super Payload> actual = Operators.toCoreSubscriber(subscriber);
      RequestRights rights = new RequestRights();
      Request request;
      Flux<Payload> stream;
      try {
        request = charging.apply(rights);
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
      Subscriber<Payload> served = new ServedStream(actual, request::close, streams, rights);
      stream.subscribe(served); // as a Subscriber: it hears of what is thrown here
    });
  }

  /// A channel, which charges its request itself.
  ///
  /// @param channel its answers, for a request with these rights
  static Flux<Payload> channel(Function<RequestRights, Publisher<Payload>> channel, Streams streams) {
    return Flux.from(subscriber -> {
      RequestRights rights = new RequestRights();
      channel.apply(rights)
          .subscribe(new ServedStream(Operators.toCoreSubscriber(subscriber), () -> {}, streams, rights));
    });
  }

  @Override
  public Context currentContext() {
    return actual.currentContext();
  }

  @Override
  public void onSubscribe(Subscription subscription) {
    in = subscription;
    streams.open().add(this); // cancels it if the connection is gone
    actual.onSubscribe(this);
    watch = streams.held().hold(rights, this::end);
    if (isEnded()) {
      watch.dispose();
    }
  }

  private boolean isEnded() {
    int now = state.get();
    return now == OVER || now == CANCELLED;
  }

  @Override
  public void onNext(Payload payload) {
    if (!state.compareAndSet(IDLE, EMITTING)) {
      emitInside(payload);
      return;
    }
    actual.onNext(payload);
    if (!state.compareAndSet(EMITTING, IDLE) && state.compareAndSet(ENDING, OVER)) {
      refuse();
    }
  }

  /// A payload that comes while another one is emitted, by the same thread, or when the stream has ended.
  private void emitInside(Payload payload) {
    int now = state.get();
    if (now == EMITTING || now == CANCELLED) {
      actual.onNext(payload);
    } else {
      payload.release();
    }
  }

  /// The caller has lost a right. Any thread.
  private void end(RuntimeException why) {
    lack = why;
    while (true) {
      if (state.compareAndSet(IDLE, OVER)) {
        stop();
        refuse();
        return;
      } else if (state.compareAndSet(EMITTING, ENDING)) {
        stop();
        return;
      } else if (state.get() != IDLE && state.get() != EMITTING) {
        return;
      }
    }
  }

  private void stop() {
    if (in != null) {
      in.cancel();
    }
  }

  private void refuse() {
    streams.open().remove(this);
    RuntimeException why = lack;
    if (why != null) {
      actual.onError(WireErrors.toWire(why));
    }
    over.run();
  }

  @Override
  public void onError(Throwable error) {
    if (ends()) {
      actual.onError(WireErrors.toWire(error));
      over.run();
    }
  }

  @Override
  public void onComplete() {
    if (ends()) {
      actual.onComplete();
      over.run();
    }
  }

  private boolean ends() {
    boolean first = state.getAndSet(OVER) != OVER;
    streams.open().remove(this);
    watch.dispose();
    return first;
  }

  @Override
  public void request(long n) {
    if (in != null) {
      in.request(n);
    }
  }

  @Override
  public void cancel() {
    streams.open().remove(this);
    dispose();
  }

  @Override
  public void dispose() {
    state.updateAndGet(now -> now == OVER ? OVER : CANCELLED);
    watch.dispose();
    stop();
    over.run();
  }
}
