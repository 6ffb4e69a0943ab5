package io.penstock.lab.bench.gateway;

import io.penstock.check.Checks;
import java.time.Duration;

/// Load of an [OverloadBench].
///
/// @param slots answers that run at a time, at most
/// @param tokens of an answer
/// @param pace time between two tokens
/// @param queue requests that wait at most
/// @param factor of the capacity that is asked for
/// @param leaving share of the clients that go while they wait
/// @param time of the overload
/// @param seed of the arrivals
record OverloadLoad(int slots, int tokens, Duration pace, int queue, double factor, double leaving, Duration time,
    long seed) {
  /// The time of the loads before and after.
  static final Duration CALM = Duration.ofSeconds(6);
  /// Part of the capacity that is asked for after the overload.
  static final double AFTER = 0.5;

  OverloadLoad {
    Checks.positive("--slots", slots);
    Checks.positive("--tokens", tokens);
    Checks.positive("--pace", pace);
    Checks.notNegative("--queue", queue);
    Checks.positive("--seconds", time);
    if (factor <= 1) {
      throw new IllegalArgumentException("--factor must be > 1 (was " + factor + ")");
    }
    if (leaving < 0 || leaving > 1) {
      throw new IllegalArgumentException("--leaving must be from 0 to 1 (was " + leaving + ")");
    }
  }

  /// Answers that the engine can give in a second.
  double capacity() {
    return slots * 1e9 / (tokens * pace.toNanos());
  }
}
