package io.penstock.lab.bench.side;

import static java.util.Objects.requireNonNull;

import java.time.Duration;
import reactor.core.publisher.Mono;
import reactor.netty.resources.LoopResources;

/// Waiting of the thread that drives a bench, which is no event loop.
public final class BenchWait {
  private static final Duration PATIENCE = Duration.ofMinutes(2);

  private BenchWait() {}

  /// Result of `work`, which must have one.
  public static <T> T of(Mono<T> work) {
    return requireNonNull(work.block(PATIENCE), "an answer");
  }

  /// Waits for the end of `work`.
  public static void end(Mono<Void> work) {
    work.block(PATIENCE);
  }

  /// Ends `loops`, at once.
  public static void end(LoopResources loops) {
    end(loops.disposeLater(Duration.ZERO, PATIENCE));
  }
}
