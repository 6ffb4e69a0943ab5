package io.penstock.operator;

import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/// Ends a stream with the error of another one. `takeUntilOther` alone passes the error on and leaves the source
/// running: only a completion of the other cancels it.
public final class CutOff {
  private CutOff() {}

  /// `stream` until `end` signals: then the source is cancelled, and the error of `end`, if it is one, follows.
  ///
  /// - Backpressure: that of `stream`.
  /// - Cancel: cancels both.
  public static <T> Flux<T> at(Flux<T> stream, Mono<?> end) {
    return Flux.defer(() -> {
      AtomicReference<@Nullable Throwable> why = new AtomicReference<>();
      Mono<?> other = end.onErrorResume(error -> {
        why.set(error);
        return Mono.empty();
      });
      return InTurn.of(stream.takeUntilOther(other), Flux.<T>defer(() -> {
        Throwable error = why.get();
        return error == null ? Flux.empty() : Flux.error(error);
      }));
    });
  }
}
