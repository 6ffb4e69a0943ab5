package io.penstock.disagg.request;

import static java.util.Objects.requireNonNull;

import io.penstock.check.Checks;
import java.time.Duration;
import java.util.random.RandomGenerator;

/// Reaction of a request to a shard that fails to arrive.
///
/// @param retries maximum number of retries of a shard, if its failure is transient
/// @param pause maximum wait before the first retry; it doubles with each retry, and is jittered
/// @param longestPause end of the doubling
/// @param last reaction when no retry is left
public record FailurePolicy(int retries, Duration pause, Duration longestPause, Last last) {
  private static final double LEAST_JITTER = 0.5;
  private static final int MOST_DOUBLINGS = 16;

  /// Reaction when no retry is left.
  public enum Last {
    /// The request fails, and its other shards stop.
    FAIL,
    /// The other shards still arrive, and the engine computes the missing blocks.
    RECOMPUTE
  }

  public FailurePolicy {
    Checks.notNegative("retries", retries);
    Checks.atLeastOneMilli("pause", pause);
    requireNonNull(last, "last");
    if (longestPause.compareTo(pause) < 0) {
      throw new IllegalArgumentException("longestPause must be >= pause " + pause + " (was " + longestPause + ")");
    }
  }

  /// Fails at the first failure.
  public static FailurePolicy fail() {
    return new FailurePolicy(0, Duration.ofMillis(100), Duration.ofSeconds(5), Last.FAIL);
  }

  /// Computes the blocks that did not arrive at the first attempt.
  public static FailurePolicy recompute() {
    return fail().withLast(Last.RECOMPUTE);
  }

  /// Asks again up to `times` times, then fails.
  public static FailurePolicy retry(int times) {
    return new FailurePolicy(times, Duration.ofMillis(100), Duration.ofSeconds(5), Last.FAIL);
  }

  public FailurePolicy withLast(Last other) {
    return new FailurePolicy(retries, pause, longestPause, other);
  }

  public FailurePolicy withPause(Duration first, Duration longest) {
    return new FailurePolicy(retries, first, longest, last);
  }

  /// Wait before retry number `retry`, counted from 1: between half of the doubled pause and all of it.
  public Duration pauseBefore(int retry, RandomGenerator random) {
    Duration doubled = pause.multipliedBy(1L << Math.min(retry - 1, MOST_DOUBLINGS));
    Duration most = doubled.compareTo(longestPause) < 0 ? doubled : longestPause;
    return Duration.ofNanos((long) (most.toNanos() * (LEAST_JITTER + (1 - LEAST_JITTER) * random.nextDouble())));
  }
}
