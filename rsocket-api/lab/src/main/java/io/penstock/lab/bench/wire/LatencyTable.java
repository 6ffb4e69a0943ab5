package io.penstock.lab.bench.wire;

import io.penstock.lab.bench.wire.LatencyReport.Borrowed;
import io.penstock.lab.bench.wire.LatencyReport.Get;
import io.penstock.lab.bench.wire.LatencyReport.LookUps;
import io.penstock.lab.bench.wire.LatencyReport.RoundTrip;
import io.penstock.lab.bench.wire.LatencyReport.Times;
import io.penstock.node.text.Plural;
import io.penstock.node.text.Sizes;
import io.penstock.node.text.TextTable;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/// A [LatencyReport] for a reader.
final class LatencyTable {
  private LatencyTable() {}

  static String of(LatencyReport report) {
    TextTable table = new TextTable("BLOCK", "WHAT", "AVG us", "P50 us", "P99 us", "P99.9 us", "CPU us HERE", "THERE",
        "GET P50 TO IT", "GET CPU TO IT");
    for (Get get : report.gets()) {
      row(table, get.blockBytes(), "get", get.ours(), "", "");
      row(table, get.blockBytes(), "plain request", get.plain(), times(get.p50Ratio()), times(get.cpuRatio()));
      row(table, get.blockBytes(), "plain, awake", get.awake(), times(get.awakeP50Ratio()),
          times(get.awakeCpuRatio()));
    }
    Borrowed borrowed = report.borrowed();
    if (borrowed != null) {
      row(table, borrowed.blockBytes(), "borrow", borrowed.times(), "", "");
    }
    return table + "\n" + lookUps(report.lookUps()) + roundTrips(report) + borrowed(borrowed) + settings(report);
  }

  private static String roundTrips(LatencyReport report) {
    StringBuilder text = new StringBuilder();
    for (Get get : report.gets()) {
      RoundTrip bare = get.roundTrip();
      if (bare != null) {
        text.append(String.format(Locale.ROOT,
            "get of %s: p50 %.2f times a bare round trip over a Unix domain socket in C (p50 %.1f us, p99 %.1f us)%n",
            Sizes.human(get.blockBytes()), bare.p50Ratio(), bare.p50Micros(), bare.p99Micros()));
      }
    }
    return text.toString();
  }

  private static String borrowed(@Nullable Borrowed found) {
    return found == null
        ? ""
        : String.format(Locale.ROOT,
            "block of %s where it lies, %s of it verified and read: p50 %.2f times a copy of %s in"
                + " memory (p50 %.1f us)%n",
            Sizes.human(found.blockBytes()), Sizes.human(found.granuleBytes()), found.p50Ratio(),
            Sizes.human(found.copyBytes()), found.copyP50Micros());
  }

  private static void row(TextTable table, int blockBytes, String what, Times times, String p50, String cpu) {
    table.row(Sizes.human(blockBytes), what, number(times.averageMicros()), number(times.p50Micros()),
        number(times.p99Micros()), number(times.p999Micros()), number(times.nearCpuMicros()),
        number(times.farCpuMicros()), p50, cpu);
  }

  private static String lookUps(LookUps found) {
    return String.format(Locale.ROOT,
        "look-ups of one key, %d under way: %,.0f a second, %.2f times the %,.0f empty requests%n"
            + "look-ups in batches of %d: %,.0f keys a second, %.1f times the single ones%n",
        found.underWay(), found.perSecond(), found.ratio(), found.plainPerSecond(), found.batch(),
        found.batchedPerSecond(), found.batchedRatio());
  }

  private static String settings(LatencyReport report) {
    return String.format(Locale.ROOT,
        "one get at a time over %s, congestion control %s, each byte verified by its checksum%n"
            + "the threads of a get, and of a plain request that is awake, look for the next frame before they sleep%n"
            + "CPU us is for one request, here and at the far side; TO IT is a get's figure by that of the row%n"
            + "medians of %s of %.1f s each by turns, after a warm-up of %.1f s for each row%n",
        report.transport(), report.congestion(), Plural.of(report.rounds(), "round"), report.seconds(),
        report.warmUpSeconds());
  }

  private static String times(double ratio) {
    return String.format(Locale.ROOT, "%.2f", ratio);
  }

  private static String number(double value) {
    return String.format(Locale.ROOT, value < 10 ? "%.2f" : "%.0f", value);
  }
}
