package io.penstock.node.tiers;

import java.time.Instant;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/// Microseconds since 1970, which never go back: the time of day at the start of the process, and what has gone by
/// since. Processes of one host agree to some microseconds.
public final class TimeOfDay implements LongSupplier {
  private static final int TRIES = 16;
  private static final TimeOfDay OF_PROCESS = new TimeOfDay();

  private final long offsetNanos;

  private TimeOfDay() {
    long best = Long.MAX_VALUE;
    long offset = 0;
    for (int i = 0; i < TRIES; i++) {
      long before = System.nanoTime();
      Instant now = Instant.now();
      long took = System.nanoTime() - before;
      if (took < best) {
        best = took;
        offset = TimeUnit.SECONDS.toNanos(now.getEpochSecond()) + now.getNano() - (before + took / 2);
      }
    }
    offsetNanos = offset;
  }

  public static LongSupplier ofProcess() {
    return OF_PROCESS;
  }

  @Override
  public long getAsLong() {
    return TimeUnit.NANOSECONDS.toMicros(System.nanoTime() + offsetNanos);
  }
}
