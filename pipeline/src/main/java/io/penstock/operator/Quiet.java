package io.penstock.operator;

import java.util.concurrent.atomic.AtomicBoolean;
import reactor.core.publisher.Flux;

/// Ignores errors after a cancel. The scope of a subscriber that has left closes its blocks, so work under way fails,
/// and that failure is no error.
public final class Quiet {
  private Quiet() {}

  /// `stream` without its errors after a cancel: they reach no subscriber and are not reported as dropped.
  public static <T> Flux<T> afterCancel(Flux<T> stream) {
    return Flux.defer(() -> {
      AtomicBoolean cancelled = new AtomicBoolean();
      return stream.onErrorComplete(e -> cancelled.get()).doOnCancel(() -> cancelled.set(true));
    });
  }
}
