package io.penstock.node.tiers;

import java.util.List;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/// The end of several things: each is closed, even if another fails.
public final class Endings {
  private Endings() {}

  /// Closes one after the other; fails at the end if some of them failed. Lazy.
  public static Mono<Void> inOrder(List<Mono<Void>> closes) {
    return Flux.concatDelayError(Flux.fromIterable(closes)).then();
  }

  /// Closes, then fails with `error`; a failure of closing is added to it.
  public static <T> Mono<T> after(Throwable error, Mono<Void> close) {
    return close.onErrorResume(failure -> {
      error.addSuppressed(failure);
      return Mono.empty();
    }).then(Mono.error(error));
  }
}
