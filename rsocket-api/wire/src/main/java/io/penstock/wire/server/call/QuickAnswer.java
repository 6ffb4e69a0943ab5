package io.penstock.wire.server.call;

import io.penstock.operator.Demand;
import io.penstock.operator.Failures;
import io.penstock.wire.protocol.WireErrors;
import io.rsocket.Payload;
import java.util.concurrent.Callable;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Operators;

/// The answer to a small request, read where it arrived. A look-up is answered at once, by one object and without a
/// charge: nothing of it is left when the call returns. Any other request takes the longer way.
public final class QuickAnswer extends Mono<Payload> {
  /// Reads a request, which stays the caller's.
  public interface Reader {
    /// Answers at once, where that is possible; else null.
    @Nullable Callable<Payload> read(Payload request);
  }

  private final Payload request;
  private final Reader reader;
  private final Supplier<Mono<Payload>> other;

  /// @param request taken over
  /// @param other takes over a request that is not answered at once
  public QuickAnswer(Payload request, Reader reader, Supplier<Mono<Payload>> other) {
    this.request = request;
    this.reader = reader;
    this.other = other;
  }

  @Override
  public void subscribe(CoreSubscriber<? super Payload> actual) {
    Callable<Payload> ready;
    try {
      ready = reader.read(request);
    } catch (RuntimeException | Error e) {
      request.release();
      Operators.error(actual, WireErrors.toWire(Failures.passable(e)));
      return;
    }
    if (ready == null) {
      other.get().subscribe(actual);
    } else {
      request.release();
      actual.onSubscribe(new Ready(actual, ready));
    }
  }

  /// Answers when it is asked for, once.
  private static final class Ready implements Subscription {
    private final CoreSubscriber<? super Payload> actual;
    private final Callable<Payload> answer;
    private volatile boolean over;

    private Ready(CoreSubscriber<? super Payload> actual, Callable<Payload> answer) {
      this.actual = actual;
      this.answer = answer;
    }

    @Override
    public void request(long n) {
      if (over) {
        return;
      }
      over = true;
      if (n <= 0) {
        actual.onError(WireErrors.toWire(Demand.refusal(n)));
        return;
      }
      Payload payload;
      try {
        payload = answer.call();
      } catch (Throwable e) { // a callable may throw anything
        actual.onError(WireErrors.toWire(Failures.passable(e)));
        return;
      }
      actual.onNext(payload);
      actual.onComplete();
    }

    @Override
    public void cancel() {
      over = true;
    }
  }
}
