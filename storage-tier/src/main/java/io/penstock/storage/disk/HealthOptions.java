package io.penstock.storage.disk;

import static java.util.Objects.requireNonNull;

import java.time.Duration;

/// Time after which a disk counts as stalled, and times of probes.
///
/// @param stallAfter maximum time of a read or an append; a sync may take four times as long
/// @param firstProbe time from a failure to the first probe
/// @param lastProbe maximum time between two probes; each waits twice as long as the one before, up to this
/// @param closeWithin maximum wait of a close for a stalled disk
public record HealthOptions(Duration stallAfter, Duration firstProbe, Duration lastProbe, Duration closeWithin) {
  public static final Duration DEFAULT_STALL_AFTER = Duration.ofSeconds(5);

  public HealthOptions {
    positive("stallAfter", stallAfter);
    positive("firstProbe", firstProbe);
    positive("lastProbe", lastProbe);
    positive("closeWithin", closeWithin);
  }

  /// Stalled after 5 s; probes after 100 ms, later every 5 s; a close waits 10 s.
  public static HealthOptions defaults() {
    return new HealthOptions(DEFAULT_STALL_AFTER, Duration.ofMillis(100), Duration.ofSeconds(5),
        Duration.ofSeconds(10));
  }

  public HealthOptions withStallAfter(Duration stallAfter) {
    return new HealthOptions(stallAfter, firstProbe, lastProbe, closeWithin);
  }

  private static void positive(String name, Duration value) {
    if (requireNonNull(value, name).toMillis() < DiskWatch.TICKS) {
      throw new IllegalArgumentException(name + " must be >= " + DiskWatch.TICKS + " ms (was " + value + ")");
    }
  }
}
