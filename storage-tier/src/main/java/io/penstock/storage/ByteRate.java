package io.penstock.storage;

/// Keeps work below so many bytes in a second, on average since it last had nothing to do. Used by one thread.
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

  /// How long to wait before the next bytes, in whole milliseconds; 0 on a clock that does not go.
  long waitMillis() {
    return clock.runs() ? (long) Math.max(0, next - clock.millis()) : 0;
  }
}
