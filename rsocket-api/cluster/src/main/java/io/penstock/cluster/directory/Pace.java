package io.penstock.cluster.directory;

import io.penstock.operator.TokenBucket;
import java.util.concurrent.TimeUnit;
import reactor.core.scheduler.Scheduler;

/// How fast a node announces blocks that it announced before, or had before it joined. All its tiers share it. A clock
/// that is set back costs no wait: the pace begins again. Safe from any thread.
public final class Pace {
  private final long keysPerSecond;
  private final int burst;
  private final Scheduler clock;
  private TokenBucket bucket;
  private long lastNanos;

  /// @param keysPerSecond most names of blocks a second
  /// @param burst names that may pass at once
  /// @param clock tells the time
  public Pace(long keysPerSecond, int burst, Scheduler clock) {
    this.keysPerSecond = keysPerSecond;
    this.burst = burst;
    this.clock = clock;
    this.lastNanos = clock.now(TimeUnit.NANOSECONDS);
    this.bucket = new TokenBucket(keysPerSecond, burst, lastNanos);
  }

  /// Nanoseconds to wait before so many names are sent.
  synchronized long take(int names) {
    long now = clock.now(TimeUnit.NANOSECONDS);
    if (now - lastNanos < 0) {
      bucket = new TokenBucket(keysPerSecond, burst, now);
    }
    lastNanos = now;
    return bucket.take(names, now);
  }
}
