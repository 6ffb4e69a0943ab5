package io.penstock.operator;

import java.util.concurrent.atomic.AtomicBoolean;
import reactor.core.publisher.Flux;

/// Keeps quiet after a cancel: what fails because the scope of a subscriber that left closed its blocks is no failure.
public final class Quiet {
  private Quiet() {}

  /// `stream`, whose errors after a cancel reach no subscriber and are not reported as dropped.
  public static <T> Flux<T> afterCancel(Flux<T> stream) {
    return Flux.defer(() -> {
      AtomicBoolean cancelled = new AtomicBoolean();
      return stream.onErrorComplete(e -> cancelled.get()).doOnCancel(() -> cancelled.set(true));
    });
  }
}
