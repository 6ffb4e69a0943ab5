package io.penstock.stage;

import java.util.List;
import java.util.function.ToLongFunction;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Flux;
import reactor.core.publisher.FluxOperator;
import reactor.core.scheduler.Scheduler;

/// The operator behind [Batch].
final class BatchFlux<T> extends FluxOperator<T, List<T>> {
  private final Batch.Options options;
  private final ToLongFunction<? super T> weigher;
  private final Scheduler timer;

  BatchFlux(Flux<? extends T> source, Batch.Options options, ToLongFunction<? super T> weigher, Scheduler timer) {
    super(source);
    this.options = options;
    this.weigher = weigher;
    this.timer = timer;
  }

  @Override
  public void subscribe(CoreSubscriber<? super List<T>> actual) {
    source.subscribe(new BatchSubscriber<>(actual, options, weigher, timer));
  }
}
