package io.penstock.storage;

/// Keeps work below a rate of bytes, on average since it was last idle. One thread.
final class ByteRate {
  private static final double MILLIS = 1000;

  private final JournalClock clock;
  private final double bytesPerMilli;
  /// When the next bytes may go.
  private double next;

  ByteRate(long bytesPerSecond, JournalClock clock) {
    this.clock = clock;
    this.bytesPerMilli = bytesPerSecond / MILLIS;
  }

  void spent(long bytes) {
    next = Math.max(next, clock.millis()) + bytes / bytesPerMilli;
  }

  /// Milliseconds to wait before the next bytes; 0 on a clock that stands still.
  long waitMillis() {
    return clock.runs() ? (long) Math.max(0, next - clock.millis()) : 0;
  }
}
