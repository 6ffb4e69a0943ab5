package io.penstock.node.play;

import java.util.Locale;

/// Figures of a playing in words.
final class PlayText {
  private PlayText() {}

  /// *1.234567 s*
  static String seconds(long nanos) {
    return String.format(Locale.ROOT, "%.6f s", nanos / 1e9);
  }

  /// *12.3 ms*, for the latency of an answer.
  static String millis(long nanos) {
    return String.format(Locale.ROOT, "%,.1f ms", nanos / 1e6);
  }
}
