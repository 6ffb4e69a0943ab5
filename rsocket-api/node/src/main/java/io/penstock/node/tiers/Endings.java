package io.penstock.node.tiers;

import java.util.List;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/// How several things end: each is closed, whatever becomes of the others.
public final class Endings {
  private Endings() {}

  /// Closes one after the other; fails at the end if some of them failed. Lazy.
  public static Mono<Void> inOrder(List<Mono<Void>> closes) {
    return Flux.concatDelayError(Flux.fromIterable(closes)).then();
  }

  /// Closes, then fails with `error`; a failure of closing is told beside it.
  public static <T> Mono<T> after(Throwable error, Mono<Void> close) {
    return close.onErrorResume(failure -> {
      error.addSuppressed(failure);
      return Mono.empty();
    }).then(Mono.error(error));
  }
}
