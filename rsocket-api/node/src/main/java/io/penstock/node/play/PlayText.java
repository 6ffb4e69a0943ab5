package io.penstock.node.play;

import java.util.Locale;

/// Figures of a playing in words.
public final class PlayText {
  private PlayText() {}

  /// *1.234567 s*
  public static String seconds(long nanos) {
    return String.format(Locale.ROOT, "%.6f s", nanos / 1e9);
  }

  /// *12.3 ms*, for the latency of an answer.
  public static String millis(long nanos) {
    return String.format(Locale.ROOT, "%,.1f ms", nanos / 1e6);
  }
}
