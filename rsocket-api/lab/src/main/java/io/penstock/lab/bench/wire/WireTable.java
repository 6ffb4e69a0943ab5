package io.penstock.lab.bench.wire;

import io.penstock.lab.bench.wire.WireReport.Row;
import io.penstock.node.text.Plural;
import io.penstock.node.text.Sizes;
import io.penstock.node.text.TextTable;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/// A [WireReport] for a reader.
final class WireTable {
  private WireTable() {}

  static String of(WireReport report) {
    TextTable table = new TextTable("BLOCK", "BATCH", "GB/S", "AVG us", "P50 us", "P99 us", "P99.9 us", "CPU s/GB HERE",
        "THERE", "TO NETTY", "CPU TO NETTY", "TO COPY+CRC",
        "TO TCP", "CARRIED BY");
    for (Row row : report.rows()) {
      table.row(Sizes.human(row.blockBytes()), row.batch(), number(row.gigabytesPerSecond()),
          whole(row.averageMicros()), whole(row.p50Micros()), whole(row.p99Micros()), whole(row.p999Micros()),
          number(row.nearCpuSecondsPerGigabyte()), number(row.farCpuSecondsPerGigabyte()),
          times(row.raw().ratio(), row.raw().gigabytesPerSecond()), number(row.raw().cpuRatio()),
          times(row.copy().ratio(), row.copy().gigabytesPerSecond()), tcp(row.tcp()),
          String.join(", ", row.carriedBy()));
    }
    return table + "\n" + peers(report) + settings(report);
  }

  private static String peers(WireReport report) {
    StringBuilder text = new StringBuilder();
    for (Row row : report.rows()) {
      if (row.peer() != null) {
        text.append(String.format(Locale.ROOT, "%s at %s: %.2f GB/s and %.2f CPU s/GB; ours are %.2f and %.2f times"
            + " that%n", row.peer().name(), Sizes.human(row.blockBytes()), row.peer().gigabytesPerSecond(),
            row.peer().cpuSecondsPerGigabyte(), row.peer().ratio(), row.peer().cpuRatio()));
      }
    }
    return text.toString();
  }

  private static String settings(WireReport report) {
    return String.format(Locale.ROOT,
        "%s over %s, congestion control %s, %s memory, %s under way on %s; %s%n"
            + "medians of %s of %.1f s each by turns, after a warm-up of %.1f s for each row%n",
        report.direction(), report.transport(), report.congestion(), report.memory(),
        Plural.of(report.threads(), "request"), Plural.of(report.connections(), "connection"),
        report.verified() ? "each byte compared, beside its checksum" : "each byte verified by its checksum",
        Plural.of(report.rounds(), "round"), report.seconds(), report.warmUpSeconds());
  }

  private static String tcp(WireReport.@Nullable Other tcp) {
    return tcp == null ? "" : times(tcp.ratio(), tcp.gigabytesPerSecond());
  }

  private static String times(double ratio, double rate) {
    return String.format(Locale.ROOT, "%.2f of %.2f", ratio, rate);
  }

  private static String number(double value) {
    return String.format(Locale.ROOT, "%.2f", value);
  }

  private static String whole(double value) {
    return String.format(Locale.ROOT, "%.0f", value);
  }
}
