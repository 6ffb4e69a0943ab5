package io.penstock.node.replay;

/// The rate of the last quarter of a run: by then the JVM has compiled the hot code, which takes the first seconds.
///
/// Keeps a bounded number of points for a run of any length: when there is no room for one more, each second point is
/// dropped. One thread at a time.
final class SteadyRate {
  private static final int POINTS = 256;

  private final long[] nanos = new long[POINTS];
  private final long[] bytes = new long[POINTS];
  private int points;
  private int callsAPoint = 1;
  private int calls;

  /// @param nanos since the run began
  /// @param bytes of the run so far
  void add(long nanos, long bytes) {
    if (++calls % callsAPoint == 0) {
      if (points == POINTS) {
        halve();
      }
      this.nanos[points] = nanos;
      this.bytes[points++] = bytes;
    }
  }

  private void halve() {
    points /= 2;
    for (int i = 0; i < points; i++) {
      nanos[i] = nanos[2 * i + 1];
      bytes[i] = bytes[2 * i + 1];
    }
    callsAPoint *= 2;
  }

  /// @param endNanos length of the run
  /// @param endBytes of the whole run
  /// @return bytes a second; those of the whole run where the last quarter has too few points
  double bytesPerSecond(long endNanos, long endBytes) {
    for (int i = 0; i < points; i++) {
      if (nanos[i] >= endNanos - endNanos / 4 && nanos[i] < endNanos && bytes[i] < endBytes) {
        return (endBytes - bytes[i]) * 1e9 / (endNanos - nanos[i]);
      }
    }
    return endBytes * 1e9 / Math.max(1, endNanos);
  }
}
