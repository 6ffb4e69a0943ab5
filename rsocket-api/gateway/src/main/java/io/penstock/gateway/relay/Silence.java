package io.penstock.gateway.relay;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;

/// A limit on the silence of a stream. An element costs a look at the clock, and no timer: one timer a stream ends when
/// the limit may be reached, and begins again if elements came.
///
/// @param first longest wait for the first element
/// @param idle longest time between two elements
/// @param timer the clock
record Silence(Duration first, Duration idle, Scheduler timer) {
  /// The stream, which fails with [TimeoutException] when it is silent for too long.
  <T> Flux<T> limit(Flux<T> stream) {
    return Flux.defer(() -> {
      Watch watch = new Watch();
      return stream.doOnNext(element -> watch.elementCame()).takeUntilOther(watch.late());
    });
  }

  private final class Watch {
    private volatile long end = now() + first.toNanos();

    void elementCame() {
      end = now() + idle.toNanos();
    }

    <T> Mono<T> late() {
      return Mono.defer(() -> Mono.delay(Duration.ofNanos(Math.max(0, end - now())), timer))
          .filter(tick -> end - now() <= 0).repeatWhenEmpty(times -> times)
          .then(Mono.error(TimeoutException::new));
    }

    private long now() {
      return timer.now(TimeUnit.NANOSECONDS);
    }
  }
}
