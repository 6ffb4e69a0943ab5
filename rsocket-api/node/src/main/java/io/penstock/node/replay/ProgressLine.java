package io.penstock.node.replay;

import io.penstock.node.config.Sizes;
import java.util.Locale;

/// The moment in words: rate, hits, bytes in flight.
final class ProgressLine {
  private ProgressLine() {}

  static String of(Tally.Sums sums, double bytesPerSecond, long inFlightBytes) {
    double hitRate = sums.blockRefs() == 0 ? 0 : 100.0 * sums.hits() / sums.blockRefs();
    return String.format(Locale.ROOT, "%.2f GB/s, hits %.2f %%, in flight %s", bytesPerSecond / 1e9, hitRate, Sizes.human(inFlightBytes));
  }
}
