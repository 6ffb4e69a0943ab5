package io.penstock.node.serve;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import reactor.core.publisher.Mono;

/// Time that the levels of a node have to close: the rest that its running streams left of `drain.timeout`. Safe from
/// any thread.
final class DrainTime {
  private final long allNanos;
  private final long leastNanos;
  private final LongSupplier nanoClock;
  private final AtomicLong spentNanos = new AtomicLong();

  /// @param all for streams and levels together
  /// @param least for the levels, where `all` is not less
  DrainTime(Duration all, Duration least, LongSupplier nanoClock) {
    this.allNanos = all.toNanos();
    this.leastNanos = Math.min(allNanos, least.toNanos());
    this.nanoClock = nanoClock;
  }

  /// Takes the time until `streams` has its value, or is complete.
  <T> Mono<T> taken(Mono<T> streams) {
    return Mono.defer(() -> {
      long began = nanoClock.getAsLong();
      return streams.doOnTerminate(() -> spentNanos.addAndGet(nanoClock.getAsLong() - began));
    });
  }

  /// Time left to close the levels.
  Duration left() {
    return Duration.ofNanos(Math.clamp(allNanos - spentNanos.get(), leastNanos, allNanos));
  }
}
