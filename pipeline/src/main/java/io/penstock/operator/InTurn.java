package io.penstock.operator;

import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/// One stream after another, with demand carried over, as `concatWith` and `thenMany` promise.
///
/// The operator behind those (`FluxConcatArray`, reactor-core 3.8.6) loses requests: a request that comes while it
/// leaves an empty source goes to the source that has ended. Another race leaves the next source uncancelled
/// (reactor-core #4399). The operators used here have one arbiter of demand for all their sources.
public final class InTurn {
  private InTurn() {}

  /// `second`, once `first` completed. `first` is subscribed to before there is demand; no element is taken ahead of
  /// demand.
  public static <T> Flux<T> of(Flux<? extends T> first, Flux<? extends T> second) {
    return Flux.range(0, 2).concatMap(i -> i == 0 ? first : second, 2);
  }

  /// `second`, once `first` completed.
  public static <T> Flux<T> of(Mono<?> first, Flux<T> second) {
    return first.then(Mono.just(second)).flatMapMany(next -> next);
  }
}
