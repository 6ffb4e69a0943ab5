package io.penstock.stage;

import java.util.function.Function;
import reactor.core.publisher.Flux;

/// One verb on a stream: a function that drops into `flux.transform(stage)` and composes with [#then].
@FunctionalInterface
public interface Stage<I, O> extends Function<Flux<I>, Flux<O>> {
  /// This stage, then `next`.
  default <R> Stage<I, R> then(Stage<O, R> next) {
    return source -> next.apply(apply(source));
  }
}
