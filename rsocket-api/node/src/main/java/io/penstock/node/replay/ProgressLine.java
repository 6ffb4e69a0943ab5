package io.penstock.node.replay;

import io.penstock.node.replay.report.Tally;
import io.penstock.node.text.Numbers;
import io.penstock.node.text.Plural;
import io.penstock.node.text.Sizes;
import java.util.Locale;

/// The moment in words: rate, hits, bytes in flight.
final class ProgressLine {
  private ProgressLine() {}

  /// Summary of the work when a signal ended the run.
  ///
  /// @param requests expected number, or -1 if unknown
  static String interrupted(Tally.Sums sums, long requests) {
    return "replay: interrupted after %s%s: %s, %s, %s verified; there is no report".formatted(
        requests < 0 ? "" : Numbers.of(sums.requests()) + " of ",
        Plural.of(requests < 0 ? sums.requests() : requests, "request"),
        Plural.of(sums.blockRefs(), "block reference"), Plural.of(sums.hits(), "hit"),
        Sizes.human(sums.bytesVerified()));
  }

  static String of(Tally.Sums sums, double bytesPerSecond, long inFlightBytes) {
    double hitRate = sums.blockRefs() == 0 ? 0 : 100.0 * sums.hits() / sums.blockRefs();
    return String.format(Locale.ROOT, "%.2f GB/s, hits %.2f %%, in flight %s", bytesPerSecond / 1e9, hitRate,
        Sizes.human(inFlightBytes));
  }
}
