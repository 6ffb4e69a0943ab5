package io.penstock.cluster.directory;

import io.penstock.operator.TokenBucket;
import java.util.concurrent.TimeUnit;
import reactor.core.scheduler.Scheduler;

/// How fast a node announces blocks that it announced before, or had before it joined. All its tiers share it. Safe
/// from any thread.
public final class Pace {
  private final Scheduler clock;
  private final TokenBucket bucket;

  /// @param keysPerSecond most names of blocks a second
  /// @param burst names that may pass at once
  /// @param clock tells the time
  public Pace(long keysPerSecond, int burst, Scheduler clock) {
    this.clock = clock;
    this.bucket = new TokenBucket(keysPerSecond, burst, clock.now(TimeUnit.NANOSECONDS));
  }

  /// Nanoseconds to wait before so many names are sent.
  synchronized long take(int names) {
    return bucket.take(names, clock.now(TimeUnit.NANOSECONDS));
  }
}
