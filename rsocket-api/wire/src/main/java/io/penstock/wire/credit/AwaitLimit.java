package io.penstock.wire.credit;

import io.penstock.operator.Demand;
import io.penstock.operator.Serial;
import io.penstock.wire.protocol.WireFailure.AwaitTimeoutException;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Operators;
import reactor.core.scheduler.Scheduler;

/// Fails a stream that owes an element for longer than a limit. The clock runs only while an element is asked for: a
/// slow reader is never the one that times out. Asks for one element at a time.
public final class AwaitLimit<T> implements CoreSubscriber<T>, Subscription {
  private final CoreSubscriber<? super T> actual;
  private final Duration limit;
  private final Scheduler timers;
  private final Serial serial = new Serial(this::fail);
  private @Nullable Subscription upstream;
  private @Nullable Disposable timer;
  private long requested;
  private boolean asked;
  private long asks;
  private volatile boolean done;

  private AwaitLimit(CoreSubscriber<? super T> actual, Duration limit, Scheduler timers) {
    this.actual = actual;
    this.limit = limit;
    this.timers = timers;
  }

  public static <T> Flux<T> of(Flux<T> source, Duration limit, Scheduler timers) {
    return Flux.from(
        subscriber -> source.subscribe(new AwaitLimit<>(Operators.<T>toCoreSubscriber(subscriber), limit, timers)));
  }

  @Override
  public void onSubscribe(Subscription subscription) {
    upstream = subscription;
    actual.onSubscribe(this);
  }

  @Override
  public void request(long n) {
    serial.run(() -> {
      if (n <= 0) { // or it would count as demand without end
        throw Demand.refusal(n);
      }
      requested = Demand.plus(requested, n);
      ask();
    });
  }

  @Override
  public void cancel() {
    done = true;
    serial.run(this::stop);
  }

  @Override
  public void onNext(T element) {
    serial.run(() -> {
      stopTimer();
      asked = false;
      requested = Demand.minus(requested, 1);
      if (!done) {
        actual.onNext(element);
        ask();
      }
    });
  }

  @Override
  public void onError(Throwable error) {
    serial.run(() -> fail(error));
  }

  private void fail(Throwable error) {
    stopTimer();
    if (!done) {
      done = true;
      stop();
      actual.onError(error);
    }
  }

  @Override
  public void onComplete() {
    serial.run(() -> {
      stopTimer();
      if (!done) {
        done = true;
        actual.onComplete();
      }
    });
  }

  private void ask() {
    if (!done && !asked && requested > 0 && upstream != null) {
      asked = true;
      long turn = ++asks;
      timer = timers.schedule(() -> serial.run(() -> expire(turn)), limit.toMillis(), TimeUnit.MILLISECONDS);
      upstream.request(1);
    }
  }

  /// A timer that fired while its element was on the way is late: the element counts.
  private void expire(long turn) {
    if (asked && turn == asks) {
      fail(new AwaitTimeoutException("awaited blocks", limit));
    }
  }

  private void stop() {
    stopTimer();
    if (upstream != null) {
      upstream.cancel();
    }
  }

  private void stopTimer() {
    if (timer != null) {
      timer.dispose();
      timer = null;
    }
  }
}
