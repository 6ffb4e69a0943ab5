package io.penstock.wire.client.link;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.operator.InTurn;
import io.penstock.wire.protocol.WireFailure.RateLimitedException;
import io.penstock.wire.report.StreamListener;
import java.time.Duration;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.util.retry.Retry;

/// Repeats requests of one connection that the node's rate refused. Each refused request waits for a turn of its own:
/// they come back at the rate of the node, not all together. Safe from any thread.
///
/// A request fails with its last refusal if its next turn comes later than the patience after its first refusal.
public final class RateTurns {
  /// Minimum time until a request is repeated, even if the node allows less.
  private static final Duration LEAST_WAIT = Duration.ofMillis(1);

  private final Duration patience;
  private final @Nullable Scheduler timers;
  private final StreamListener listener;
  private final Mono<Void> gone;
  /// Earliest time of the next turn, on the clock of the timers.
  @GuardedBy("this") private long next = Long.MIN_VALUE;
  /// Turns of requests that were cancelled while they waited: others have them.
  @GuardedBy("this") private final TreeSet<Long> free = new TreeSet<>();

  /// @param timers null if no request is repeated
  /// @param listener receives each refusal
  /// @param gone completes when the connection is lost: waiting requests are then sent at once, and get the loss
  RateTurns(Duration patience, @Nullable Scheduler timers, StreamListener listener, Mono<Void> gone) {
    this.patience = patience;
    this.timers = timers;
    this.listener = listener;
    this.gone = gone;
  }

  /// `request`, asked again while the rate refuses it.
  public <T> Mono<T> retried(Mono<T> request) {
    return timers == null ? request : request.onErrorResume(RateLimitedException.class, first -> {
      long deadline = deadline(timers);
      return turn(first, deadline, timers).then(request.retryWhen(retry(deadline, timers, () -> true)));
    });
  }

  /// Repeats a stream.
  ///
  /// @param untouched whether the node has only refused so far
  public <T> Flux<T> retried(Flux<T> request, BooleanSupplier untouched) {
    return timers == null
        ? request
        : request.onErrorResume(e -> e instanceof RateLimitedException && untouched.getAsBoolean(), first -> {
          long deadline = deadline(timers);
          return InTurn.of(turn((RateLimitedException) first, deadline, timers),
              request.retryWhen(retry(deadline, timers, untouched)));
        });
  }

  private long deadline(Scheduler timers) {
    return timers.now(TimeUnit.NANOSECONDS) + patience.toNanos();
  }

  private Retry retry(long deadline, Scheduler timers, BooleanSupplier untouched) {
    return Retry.from(failures -> failures.concatMap(
        signal -> signal.failure() instanceof RateLimitedException again && untouched.getAsBoolean()
            ? turn(again, deadline, timers)
            : Mono.error(signal.failure()),
        1));
  }

  /// Signals at the turn of a request; fails with `refusal` if that comes too late.
  private Mono<Long> turn(RateLimitedException refusal, long deadline, Scheduler timers) {
    return Mono.defer(() -> {
      listener.requestRefused();
      long now = timers.now(TimeUnit.NANOSECONDS);
      long turn = take(refusal, deadline, now);
      return turn < now
          ? Mono.error(refusal)
          : Mono.delay(Duration.ofNanos(turn - now), timers).doOnCancel(() -> giveBack(turn)).takeUntilOther(gone)
              .defaultIfEmpty(0L);
    });
  }

  /// The time of the turn; one before `now` if it would be after the deadline.
  private synchronized long take(RateLimitedException refusal, long deadline, long now) {
    Duration told = refusal.retryAfter();
    if (told.compareTo(Duration.ofNanos(deadline - now)) > 0) {
      return now - 1;
    }
    long earliest = now + (told.compareTo(LEAST_WAIT) < 0 ? LEAST_WAIT : told).toNanos();
    free.headSet(now).clear();
    Long given = free.ceiling(earliest);
    long turn = given == null ? Math.max(next, earliest) : given;
    if (turn > deadline) {
      return now - 1;
    }
    if (given == null) {
      next = turn + TimeUnit.SECONDS.toNanos(1) / Math.max(1, refusal.most());
    } else {
      free.remove(given);
    }
    return turn;
  }

  private synchronized void giveBack(long turn) {
    free.add(turn);
  }
}
