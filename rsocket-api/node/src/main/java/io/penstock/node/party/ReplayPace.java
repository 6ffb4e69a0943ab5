package io.penstock.node.party;

import io.penstock.check.Checks;

/// Part of a trace that is replayed, and its speed.
///
/// @param concurrency requests under way at a time; 1 is strict trace order
/// @param limit requests at most
/// @param speed 0 as fast as demand allows, 1 in the trace's own time, 2 twice as fast
public record ReplayPace(int concurrency, long limit, double speed) {
  /// Maximum number of requests under way.
  static final int MAX_CONCURRENCY = 256;

  public ReplayPace {
    if (concurrency <= 0 || concurrency > MAX_CONCURRENCY) {
      throw new IllegalArgumentException(
          "concurrency must be in [1, " + MAX_CONCURRENCY + "] (was " + concurrency + ")");
    }
    Checks.positive("limit", limit);
    if (!(speed >= 0) || Double.isInfinite(speed)) {
      throw new IllegalArgumentException("speed must be >= 0 (was " + speed + ")");
    }
  }

  /// One request at a time, all of them, as fast as demand allows.
  public static ReplayPace defaults() {
    return new ReplayPace(1, Long.MAX_VALUE, 0);
  }

  public ReplayPace withConcurrency(int newConcurrency) {
    return new ReplayPace(newConcurrency, limit, speed);
  }

  public ReplayPace withLimit(long newLimit) {
    return new ReplayPace(concurrency, newLimit, speed);
  }

  public ReplayPace withSpeed(double newSpeed) {
    return new ReplayPace(concurrency, limit, newSpeed);
  }
}
