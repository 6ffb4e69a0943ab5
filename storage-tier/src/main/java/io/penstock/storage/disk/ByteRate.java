package io.penstock.storage.disk;

/// Keeps work below a rate of bytes, on average since it was last idle. One thread.
public final class ByteRate {
  private static final double MILLIS = 1000;

  private final JournalClock clock;
  private final double bytesPerMilli;
  /// Earliest time of the next bytes.
  private double next;

  public ByteRate(long bytesPerSecond, JournalClock clock) {
    this.clock = clock;
    this.bytesPerMilli = bytesPerSecond / MILLIS;
  }

  public void spent(long bytes) {
    next = Math.max(next, clock.millis()) + bytes / bytesPerMilli;
  }

  /// Milliseconds to wait before the next bytes; 0 on a clock that stands still.
  public long waitMillis() {
    return clock.runs() ? (long) Math.max(0, next - clock.millis()) : 0;
  }
}
