package io.penstock.stage;

import static java.util.Objects.requireNonNull;

import io.penstock.check.Checks;
import io.penstock.operator.TokenBucket;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;

/// Lets elements pass at most at a rate, or each at its own time.
///
/// | | |
/// |---|---|
/// | order | of the source; nothing is dropped |
/// | backpressure | passed on; up to one element is requested ahead of demand and waits: prefetch 0, then 1 |
/// | rate | over any time t at most `burst + rate × t`, and one element |
/// | burst | an element heavier than the burst passes; the next elements wait longer |
/// | threads | the source's for an element that passes at once, else the timer's |
/// | cancel | stops the timer; the scope that owns the waiting element frees it |
/// | signals | errors of the source; completion after the last element |
///
/// A rate of bytes and one of elements are two stages, one after the other.
public final class Pace {
  private Pace() {}

  /// At most `options.unitsPerSecond()` bytes a second.
  ///
  /// @param weigher bytes of an element
  /// @param timer clock and thread of the waits
  public static <T> Stage<T, T> bytes(ToLongFunction<? super T> weigher, Options options, Scheduler timer) {
    requireNonNull(weigher, "weigher");
    requireNonNull(options, "options");
    requireNonNull(timer, "timer");
    return source -> Flux.defer(() -> {
      TokenBucket bucket =
          new TokenBucket(options.unitsPerSecond(), options.burstUnits(), timer.now(TimeUnit.NANOSECONDS));
      return source.concatMap(
          element -> after(bucket.take(weigher.applyAsLong(element), timer.now(TimeUnit.NANOSECONDS)), element, timer),
          0);
    });
  }

  /// At most `options.unitsPerSecond()` elements a second.
  ///
  /// @param timer clock and thread of the waits
  public static <T> Stage<T, T> items(Options options, Scheduler timer) {
    return bytes(element -> 1, options, timer);
  }

  /// Passes each element at its own time, counted from the time of the first one and divided by `speed`; a late element
  /// passes at once.
  ///
  /// @param timeOf an element's time in its trace; must not fall
  /// @param speed 1 for the trace's own time, 2 for twice as fast; 0 for no waits at all: as fast as demand allows
  /// @param timer clock and thread of the waits
  public static <T> Stage<T, T> trace(Function<? super T, Duration> timeOf, double speed, Scheduler timer) {
    requireNonNull(timeOf, "timeOf");
    requireNonNull(timer, "timer");
    if (!(speed >= 0 && speed < Double.POSITIVE_INFINITY)) {
      throw new IllegalArgumentException("speed must be >= 0 and finite (was " + speed + ")");
    }
    return speed == 0 ? source -> source : source -> Flux.defer(() -> {
      TraceClock clock = new TraceClock(speed, timer);
      return source.concatMap(element -> after(clock.wait(timeOf.apply(element)), element, timer), 0);
    });
  }

  private static <T> Mono<T> after(long waitNanos, T element, Scheduler timer) {
    Mono<T> now = Mono.just(element);
    return waitNanos <= 0 ? now : now.delaySubscription(Duration.ofNanos(waitNanos), timer);
  }

  /// Trace time of one subscription: its origin is the arrival of the first element.
  private static final class TraceClock {
    private final double speed;
    private final Scheduler timer;
    private @Nullable Duration firstTime;
    private long startNanos;

    TraceClock(double speed, Scheduler timer) {
      this.speed = speed;
      this.timer = timer;
    }

    long wait(Duration time) {
      long nowNanos = timer.now(TimeUnit.NANOSECONDS);
      if (firstTime == null) {
        firstTime = time;
        startNanos = nowNanos;
      }
      double offsetNanos = time.minus(firstTime).toNanos() / speed;
      return startNanos + Math.round(offsetNanos) - nowNanos;
    }
  }

  /// Rate of [Pace]: a token bucket.
  ///
  /// @param unitsPerSecond units, bytes or elements, that become free each second
  /// @param burstUnits units that may pass at once after a pause
  public record Options(long unitsPerSecond, long burstUnits) {
    public Options {
      Checks.positive("unitsPerSecond", unitsPerSecond);
      Checks.positive("burstUnits", burstUnits);
    }

    /// A burst of 10 ms: more than timers usually are late.
    public static Options of(long unitsPerSecond) {
      return new Options(unitsPerSecond, Math.max(1, unitsPerSecond / 100));
    }

    public Options withBurstUnits(long burstUnits) {
      return new Options(unitsPerSecond, burstUnits);
    }
  }
}
