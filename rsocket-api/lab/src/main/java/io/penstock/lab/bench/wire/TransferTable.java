package io.penstock.lab.bench.wire;

import io.penstock.lab.bench.wire.TransferReport.Row;
import io.penstock.node.text.Plural;
import io.penstock.node.text.Sizes;
import io.penstock.node.text.TextTable;
import java.util.Locale;

/// A [TransferReport] for a reader.
final class TransferTable {
  private TransferTable() {}

  static String of(TransferReport report) {
    TextTable table = new TextTable("BLOCK", "BATCH", "GB/S", "AVG us", "P50 us", "P99 us", "P99.9 us", "CPU s/GB HERE",
        "THERE", "TO NETTY", "CPU TO NETTY", "CARRIED BY");
    for (Row row : report.rows()) {
      table.row(Sizes.human(row.blockBytes()), row.batch(), number(row.gigabytesPerSecond()),
          whole(row.averageMicros()), whole(row.p50Micros()), whole(row.p99Micros()), whole(row.p999Micros()),
          number(row.nearCpuSecondsPerGigabyte()), number(row.farCpuSecondsPerGigabyte()),
          "%s of %s".formatted(number(row.raw().ratio()), number(row.raw().gigabytesPerSecond())),
          number(row.raw().cpuRatio()), String.join(", ", row.carriedBy()));
    }
    return table + "\n" + settings(report);
  }

  private static String settings(TransferReport report) {
    return String.format(Locale.ROOT,
        "%s over %s, congestion control %s, %s memory, %s under way on %s; %s%n"
            + "medians of %s of %.1f s each by turns, after a warm-up of %.1f s for each row%n",
        report.direction(), report.transport(), report.congestion(), report.memory(),
        Plural.of(report.threads(), "batch", "batches"), Plural.of(report.connections(), "connection"),
        report.verified() ? "each byte compared, beside its checksum" : "each byte verified by its checksum",
        Plural.of(report.rounds(), "round"), report.seconds(), report.warmUpSeconds());
  }

  private static String number(double value) {
    return String.format(Locale.ROOT, "%.2f", value);
  }

  private static String whole(double value) {
    return String.format(Locale.ROOT, "%.0f", value);
  }
}
