package io.penstock.node.bench;

import io.penstock.node.bench.LatencyReport.Get;
import io.penstock.node.bench.LatencyReport.LookUps;
import io.penstock.node.bench.LatencyReport.Times;
import io.penstock.node.cli.Plural;
import io.penstock.node.cli.TextTable;
import io.penstock.node.config.Sizes;
import java.util.Locale;

/// A [LatencyReport] for a reader.
final class LatencyTable {
  private LatencyTable() {}

  static String of(LatencyReport report) {
    TextTable table = new TextTable("BLOCK", "WHAT", "AVG us", "P50 us", "P99 us", "P99.9 us", "CPU us HERE", "THERE",
        "P50 TO PLAIN", "CPU TO PLAIN");
    for (Get get : report.gets()) {
      row(table, get.blockBytes(), "get", get.ours(), number(get.p50Ratio()), number(get.cpuRatio()));
      row(table, get.blockBytes(), "plain request", get.plain(), "", "");
    }
    return table + "\n" + lookUps(report.lookUps()) + settings(report);
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
            + "medians of %s of %.1f s each by turns, after a warm-up of %.1f s for each row%n",
        report.transport(), report.congestion(), Plural.of(report.rounds(), "round"), report.seconds(),
        report.warmUpSeconds());
  }

  private static String number(double value) {
    return String.format(Locale.ROOT, value < 10 ? "%.2f" : "%.0f", value);
  }
}
