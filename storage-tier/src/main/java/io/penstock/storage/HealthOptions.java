package io.penstock.storage;

import static java.util.Objects.requireNonNull;

import java.time.Duration;

/// When a disk counts as one that does not answer, and how often it is tried whether it is well again.
///
/// @param stallAfter how long a read or an append may take; a sync, which may have much to write, four times as long
/// @param firstProbe from a failure to the first try
/// @param lastProbe most from one try to the next; each waits twice as long as the one before, up to this
public record HealthOptions(Duration stallAfter, Duration firstProbe, Duration lastProbe) {
  public HealthOptions {
    positive("stallAfter", stallAfter);
    positive("firstProbe", firstProbe);
    positive("lastProbe", lastProbe);
  }

  /// 5 s; tried after 100 ms, then each 5 s at the most.
  public static HealthOptions defaults() {
    return new HealthOptions(Duration.ofSeconds(5), Duration.ofMillis(100), Duration.ofSeconds(5));
  }

  public HealthOptions withStallAfter(Duration stallAfter) {
    return new HealthOptions(stallAfter, firstProbe, lastProbe);
  }

  private static void positive(String name, Duration value) {
    if (requireNonNull(value, name).toMillis() < DiskWatch.TICKS) {
      throw new IllegalArgumentException(name + " must be >= " + DiskWatch.TICKS + " ms (was " + value + ")");
    }
  }
}
