package io.penstock.lab.simulate;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.reactivestreams.Subscription;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.BaseSubscriber;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;
import reactor.core.publisher.SignalType;
import reactor.core.scheduler.Scheduler;

/// Reads a stream a few elements at a time, with a pause before it asks for more.
final class SlowReader<T> extends BaseSubscriber<T> {
  private final MonoSink<Void> sink;
  private final int demand;
  private final Duration pause;
  private final Scheduler scheduler;
  private final Consumer<T> taker;
  private final Disposable.Swap timer = Disposables.swap();
  private int left;

  private SlowReader(MonoSink<Void> sink, int demand, Duration pause, Scheduler scheduler, Consumer<T> taker) {
    this.sink = sink;
    this.demand = demand;
    this.pause = pause;
    this.scheduler = scheduler;
    this.taker = taker;
  }

  /// Completes or fails as `stream` does; cancelling cancels it.
  static <T> Mono<Void> read(Flux<T> stream, int demand, Duration pause, Scheduler scheduler, Consumer<T> taker) {
    return Mono.create(sink -> {
      SlowReader<T> reader = new SlowReader<>(sink, demand, pause, scheduler, taker);
      sink.onCancel(reader);
      stream.subscribe(reader);
    });
  }

  @Override
  protected void hookOnSubscribe(Subscription subscription) {
    ask();
  }

  @Override
  protected void hookOnNext(T element) {
    taker.accept(element);
    if (--left == 0 && !isDisposed()) {
      if (pause.isZero()) {
        ask();
      } else {
        timer.update(scheduler.schedule(this::ask, pause.toNanos(), TimeUnit.NANOSECONDS));
      }
    }
  }

  private void ask() {
    left = demand;
    request(demand);
  }

  @Override
  protected void hookOnComplete() {
    sink.success();
  }

  @Override
  protected void hookOnError(Throwable error) {
    sink.error(error);
  }

  @Override
  protected void hookFinally(SignalType type) {
    timer.dispose();
  }
}
