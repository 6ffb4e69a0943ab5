package io.penstock.examples.engine.transformer;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/// Waits of a thread that computes for the threads of tiers.
final class Waits {
  private Waits() {}

  /// What was waited for has failed, or took too long.
  static final class FailedException extends Exception {
    FailedException(Throwable cause) {
      super(cause);
    }
  }

  /// Waits for the result. An interrupt cancels the work, and so does the end of patience.
  static <T> Optional<T> await(Mono<T> work, Duration patience) throws InterruptedException, FailedException {
    CompletableFuture<@Nullable T> result = work.toFuture();
    try {
      return Optional.ofNullable(result.get(patience.toNanos(), TimeUnit.NANOSECONDS));
    } catch (ExecutionException e) {
      throw new FailedException(e.getCause() == null ? e : e.getCause());
    } catch (TimeoutException e) {
      throw new FailedException(e);
    } finally {
      result.cancel(true);
    }
  }
}
